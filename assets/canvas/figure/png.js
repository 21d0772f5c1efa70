// A PNG that knows how large it is on paper: a pHYs chunk (PNG specification, section 11.3.4.3) behind its header.

const HEADER_END = 33; // signature and IHDR

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

function checksum(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) value = CRC_TABLE[(value ^ byte) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

export function withDensity(png, dotsPerInch) {
  const perMetre = Math.round(dotsPerInch / 0.0254);
  const chunk = new Uint8Array(21);
  const view = new DataView(chunk.buffer);
  view.setUint32(0, 9);
  chunk.set([0x70, 0x48, 0x59, 0x73], 4);
  view.setUint32(8, perMetre);
  view.setUint32(12, perMetre);
  chunk[16] = 1; // the unit is the metre
  view.setUint32(17, checksum(chunk.subarray(4, 17)));
  const joined = new Uint8Array(png.length + chunk.length);
  joined.set(png.subarray(0, HEADER_END));
  joined.set(chunk, HEADER_END);
  joined.set(png.subarray(HEADER_END), HEADER_END + chunk.length);
  return joined;
}
