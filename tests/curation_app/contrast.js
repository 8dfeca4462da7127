// Every piece of visible text whose colour stands out too little from what is behind it (WCAG 2.2, 1.4.3, level AA).
() => {
  const parse = (css) => {
    const part = css.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    return css.startsWith("color(srgb")
      ? [part[0] * 255, part[1] * 255, part[2] * 255, part[3] ?? 1]
      : [part[0], part[1], part[2], part[3] ?? 1];
  };
  const over = (top, under) => [0, 1, 2].map((n) => top[n] * top[3] + under[n] * (1 - top[3])).concat(1);
  const parentOf = (element) => element.parentElement ?? element.getRootNode().host ?? null;
  const luminance = ([red, green, blue]) => {
    const linear = [red, green, blue].map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  // The value of a slider stands above its small coloured thumb, not on it. Larger parents scroll under their text.
  const isBehind = (at, box) => {
    const layer = at.getBoundingClientRect(), middle = box.top + box.height / 2;
    return layer.height > 60 || (layer.top <= middle && middle <= layer.bottom);
  };
  const backgroundOf = (element) => {
    const layers = [], box = element.getBoundingClientRect();
    for (let at = element; at; at = parentOf(at)) {
      if (!isBehind(at, box)) continue;
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]);
  };
  const opacityOf = (element) => {
    let opacity = 1;
    for (let at = element; at; at = parentOf(at)) opacity *= Number(getComputedStyle(at).opacity);
    return opacity;
  };
  const isShown = (element) => {
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    return box.width > 1 && box.height > 1 && style.visibility === "visible" && style.clipPath === "none";
  };
  const isExempt = (element) => Boolean(element.closest(":disabled, [aria-disabled=true], [disabled], [aria-hidden=true]"));
  const found = new Map();
  const look = (element, text) => {
    if (!text.trim() || !isShown(element) || isExempt(element)) return;
    const opacity = opacityOf(element);
    if (opacity === 0) return;
    const background = backgroundOf(element);
    const ink = parse(getComputedStyle(element).color);
    const shown = over([ink[0], ink[1], ink[2], ink[3] * opacity], background);
    const [low, high] = [luminance(shown), luminance(background)].sort((one, other) => one - other);
    const ratio = (high + 0.05) / (low + 0.05);
    const size = parseFloat(getComputedStyle(element).fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(getComputedStyle(element).fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) found.set(`${element.tagName} “${text.trim().slice(0, 40)}”`, ratio.toFixed(2));
  };
  const walk = (root) => {
    const nodes = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) {
        const holder = node.parentElement ?? node.getRootNode().host;
        if (!["SCRIPT", "STYLE", "NOSCRIPT"].includes(holder.tagName)) look(holder, node.textContent);
      } else {
        const isTyped = node.tagName === "TEXTAREA" || (node.tagName === "INPUT" && node.type === "text");
        if (isTyped) look(node, node.value || node.placeholder);
        if (node.shadowRoot) walk(node.shadowRoot);
      }
    }
  };
  walk(document.body);
  return [...found].map(([what, ratio]) => `${ratio} ${what}`);
}
