/** Where a popover stands: at its button, within the window. Anchors of CSS are too new. */

interface Box {
  top: number
  bottom: number
  left: number
  right: number
}

interface Size {
  width: number
  height: number
}

const GAP = 6
const EDGE = 8

const within = (value: number, most: number): number => Math.max(EDGE, Math.min(value, most))

/** Below the button if there is room, else above it. In pixels from the top left. */
export const placeBeside = (
  button: Box,
  popover: Size,
  window: Size,
): { left: number; top: number } => {
  const below = button.bottom + GAP
  const fits = below + popover.height <= window.height - EDGE
  return {
    left: within(button.left, window.width - popover.width - EDGE),
    top: within(fits ? below : button.top - GAP - popover.height, window.height - EDGE),
  }
}
