// Where the matrices stand: one line that scrolls in its box where there is little room or the matrices are large, so that
// they are no taller than a screen; else as few lines as keep the cells readable.

const NARROW = 600;
const TOUCHABLE = 26;
const WITH_NUMBERS = 36;
const LARGEST_CELL = 28;
const SMALLEST_CELL = 4;
const SMALLEST_IN_LINES = 7;
const FEW_LINES = 2;
const HEAD = 110; // pixels above the cells of a line: the titles and the names of the columns
const TALLEST = 1200;
export const NARROWEST_PANEL = 84;
export const GAP = 30;

export function panelWidth(matrix, cell) {
  return Math.max(NARROWEST_PANEL, matrix.shown * cellWidth(matrix, cell) + (matrix.shown < matrix.columns ? 12 : 0));
}

// Few columns of low cells are wider than they are tall: they take the room that a panel has anyway.
export function cellWidth(matrix, cell) {
  return Math.max(cell, Math.min(LARGEST_CELL, Math.floor((NARROWEST_PANEL - 12) / matrix.shown)));
}

// Gives the size of a cell and the matrices of each line.
export function arrange(matrices, width, labelWidth, numbers) {
  const tallest = Math.max(...matrices.map((matrix) => Math.max(matrix.rows, matrix.shown)));
  const bound = Math.max(SMALLEST_CELL, Math.floor(620 / tallest));
  if (width < NARROW) {
    const cell = Math.min(numbers ? WITH_NUMBERS : TOUCHABLE, Math.max(bound, SMALLEST_CELL));
    return { cell, lines: [matrices] };
  }
  if (numbers) return { cell: WITH_NUMBERS, lines: packed(matrices, width, labelWidth, WITH_NUMBERS) };
  for (let cell = Math.min(LARGEST_CELL, bound); cell > SMALLEST_CELL; cell -= 1) {
    const lines = packed(matrices, width, labelWidth, cell);
    const fits = lines.every((line) => lineWidth(line, labelWidth, cell) <= width);
    const readable = cell <= 12 && cell >= SMALLEST_IN_LINES && height(lines, cell) <= TALLEST;
    if (fits && (lines.length <= FEW_LINES || readable)) return { cell, lines };
  }
  return { cell: Math.min(LARGEST_CELL, bound), lines: [matrices] };
}

function height(lines, cell) {
  return lines.reduce((sum, line) => sum + HEAD + cell * Math.max(...line.map((matrix) => matrix.rows)), 0);
}

function packed(matrices, width, labelWidth, cell) {
  const lines = [];
  for (const matrix of matrices) {
    const line = lines.at(-1);
    if (line && lineWidth([...line, matrix], labelWidth, cell) <= width) line.push(matrix);
    else lines.push([matrix]);
  }
  return lines;
}

function lineWidth(line, labelWidth, cell) {
  const labels = line.filter((matrix, index) => needsLabels(line, index)).length * labelWidth;
  return labels + line.reduce((sum, matrix) => sum + panelWidth(matrix, cell) + 6, 0) + (line.length - 1) * GAP + 8;
}

// Rows of the same names stand at the same height, so only the first of a line has to name them.
export function needsLabels(line, index) {
  return index === 0 || line[index - 1].rowNames !== line[index].rowNames;
}
