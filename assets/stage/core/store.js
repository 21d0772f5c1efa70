// One object of state. Whoever changes it calls `set`; whoever draws it is called with the state before and after.

export function makeStore(state) {
  const readers = [];
  return {
    get: () => state,
    set(change) {
      const before = state;
      state = { ...state, ...change };
      for (const read of readers) read(state, before);
    },
    onChange: (read) => readers.push(read),
  };
}
