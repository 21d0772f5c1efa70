// Stands in for require.js, which bertviz asks for its two libraries: both are here already.

window.require = { config() {} };
window.requirejs = (names, use) => use(window.jQuery, window.d3);
