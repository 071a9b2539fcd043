import { expect, test } from 'bun:test'
import { placeBeside } from '#src/console/parts/popover-place'

const WINDOW = { width: 1280, height: 800 }
const at = (left: number, top: number) => ({ left, top, right: left + 44, bottom: top + 36 })

test('a popover stands below its button, or above it where there is no room', () => {
  const size = { width: 220, height: 180 }
  expect(placeBeside(at(100, 20), size, WINDOW)).toEqual({ left: 100, top: 62 })
  expect(placeBeside(at(640, 750), size, WINDOW)).toEqual({ left: 640, top: 564 })
})

test('a popover stays within the window', () => {
  const size = { width: 320, height: 180 }
  expect(placeBeside(at(1220, 20), size, WINDOW).left).toBe(952)
  expect(placeBeside(at(0, 20), size, WINDOW).left).toBe(8)
  expect(placeBeside(at(0, 100), { width: 320, height: 790 }, WINDOW).top).toBe(8)
})
