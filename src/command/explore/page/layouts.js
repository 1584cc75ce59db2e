"use strict";
// Tensor layouts: which lane holds which element, and the offset of an element in shared memory. Both are linear over
// F2:
// an element is the XOR of the bases of the bits that are set in its coordinates (src/middle/layout/lib.rs).

const Layouts = (() => {
  // A shape, an element type and a layout, as printed in a type.
  const TYPE = /<((?:\d+x)*)([!\w.]+(?:<[^<>]*>)?), #nv_tileas\.(layout|shared_layout)<([^<>]*)>/g;

  function parse(text) {
    TYPE.lastIndex = 0;
    const found = TYPE.exec(text);
    if (!found) return null;
    const bases = {};
    for (const [, name, list] of found[4].matchAll(/(\w+) = \[([^\]]*)\]/g)) {
      bases[name] = list.split(",").filter((s) => s.trim()).map(Number);
    }
    const shape = found[1].split("x").filter(Boolean).map(Number);
    return { text: found[0].slice(1), shape, element: found[2], bits: bitsOf(found[2]), shared: found[3] === "shared_layout", bases };
  }

  // The size of an element in bits. Pointers and indices have the size of an address; an i1 takes a byte.
  function bitsOf(element) {
    const number = /^(?:bf|tf|f|i|si|ui)(\d+)/.exec(element);
    return number ? (number[1] === "1" ? 8 : Number(number[1])) : 64;
  }

  const size = (list) => 1 << (list || []).length;

  // The XOR of the bases of the bits that are set in `index`.
  function at(list, index) {
    let element = 0;
    for (let bit = 0; bit < list.length; bit++) if (index >> bit & 1) element ^= list[bit];
    return element;
  }

  // For each element, in row-major order, all registers or offsets that hold it.
  function holders(layout) {
    const count = layout.shape.reduce((a, b) => a * b, 1);
    const held = Array.from({ length: count }, () => []);
    const { register = [], lane = [], warp = [], block = [], offset = [] } = layout.bases;
    if (layout.shared) {
      for (let o = 0; o < size(offset); o++) held[at(offset, o)]?.push({ offset: o });
      return held;
    }
    for (let b = 0; b < size(block); b++) {
      for (let w = 0; w < size(warp); w++) {
        for (let l = 0; l < size(lane); l++) {
          const thread = at(block, b) ^ at(warp, w) ^ at(lane, l);
          for (let r = 0; r < size(register); r++) {
            held[thread ^ at(register, r)]?.push({ block: b, warp: w, lane: l, register: r });
          }
        }
      }
    }
    return held;
  }

  // The bank of an offset in shared memory: there are 32 banks of four bytes.
  const bank = (layout, offset) => Math.floor(offset * layout.bits / 32) % 32;

  function describe(layout, held, coordinates) {
    const index = coordinates.reduce((sum, c, d) => sum * layout.shape[d] + c, 0);
    const places = held[index] || [];
    const where = `element (${coordinates.join(", ")})`;
    if (!places.length) return `${where}: not stored`;
    const first = places[0];
    if (layout.shared) {
      return `${where}: offset ${first.offset}, byte ${Math.floor(first.offset * layout.bits / 8)}, bank ${bank(layout, first.offset)}`;
    }
    const block = size(layout.bases.block) > 1 ? `CTA ${first.block}, ` : "";
    const copies = places.length > 1 ? `, and ${places.length - 1} more ${places.length > 2 ? "copies" : "copy"}` : "";
    return `${where}: ${block}warp ${first.warp}, lane ${first.lane}, register ${first.register}${copies}`;
  }

  const hue = (n, of) => Math.round(360 * n / of);

  // Draws the tensor as rows and columns; leading dimensions become rows. Returns a function from a point to its
  // element.
  function draw(canvas, layout, held) {
    const columns = layout.shape.at(-1) || 1;
    const rows = held.length / columns;
    const cell = Math.max(6, Math.min(34, Math.floor(1440 / columns)));
    const [shownRows, shownColumns] = [Math.min(rows, Math.floor(8000 / cell)), Math.min(columns, Math.floor(8000 / cell))];
    canvas.width = shownColumns * cell;
    canvas.height = shownRows * cell;
    const pen = canvas.getContext("2d");
    pen.font = "8px sans-serif";
    pen.textAlign = "center";
    const warps = size(layout.bases.warp);
    for (let y = 0; y < shownRows; y++) {
      for (let x = 0; x < shownColumns; x++) {
        const first = held[y * columns + x][0];
        if (!first) continue;
        const colour = layout.shared
          ? `hsl(${hue(bank(layout, first.offset), 32)} 60% 70%)`
          : `hsl(${hue(first.warp, warps)} 65% ${86 - first.lane}%)`;
        pen.fillStyle = colour;
        pen.fillRect(x * cell, y * cell, cell - 1, cell - 1);
        if (cell >= 20) {
          pen.fillStyle = "#222";
          const words = layout.shared ? [`${first.offset}`] : [`T${first.warp * 32 + first.lane}`, `r${first.register}`];
          words.forEach((word, i) => pen.fillText(word, (x + 0.5) * cell, (y + 0.5) * cell + (words.length > 1 ? i * 9 - 2 : 3)));
        }
      }
    }
    return (px, py) => {
      let index = Math.floor(py / cell) * columns + Math.floor(px / cell);
      const coordinates = [];
      for (const extent of [...layout.shape].reverse()) {
        coordinates.unshift(index % extent);
        index = Math.floor(index / extent);
      }
      return coordinates;
    };
  }

  return { TYPE, parse, holders, describe, draw };
})();
