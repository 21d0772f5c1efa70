// Which drawing a message asks for. A drawing lays itself out in a room, and gives its size and how it is painted.

import { modelOf } from "../attention/model.js";
import { chartsDrawing } from "./charts.js";
import { comparisonDrawing } from "./comparison_drawing.js";
import { mapDrawing } from "./map_drawing.js";
import { matricesDrawing } from "./matrices_drawing.js";
import { threeDrawing } from "./three.js";

export function drawingOf(message, { dark }) {
  const { header } = message;
  if (header.drawing === "comparison") return comparisonDrawing(message, dark);
  if (header.drawing === "matrices") return matricesDrawing(message, dark);
  if (header.drawing === "charts") return chartsDrawing(header);
  if (header.maps === 3) return threeDrawing(message, dark);
  return mapDrawing(modelOf(message, dark), header);
}
