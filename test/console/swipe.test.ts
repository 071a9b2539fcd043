import { expect, test } from 'bun:test'
import { type FingerPoint, swipeActs, swipeFrom, swipeMoved } from '#src/console/parts/swipe'

const WIDTH = 390
const START = { x: 200, y: 400 }

const swipeThrough = (...points: FingerPoint[]) =>
  points.reduce(swipeMoved, swipeFrom(START, WIDTH))

const by = (x: number, y = 0): FingerPoint => ({ x: START.x + x, y: START.y + y })

test('a finger that goes far enough to a side acts on that side', () => {
  expect(swipeActs(swipeThrough(by(20, 2), by(150, 8)), WIDTH)).toBe('right')
  expect(swipeActs(swipeThrough(by(-20), by(-150, -30)), WIDTH)).toBe('left')
})

test('a finger that goes back, or not far, does nothing', () => {
  expect(swipeActs(swipeThrough(by(20), by(100)), WIDTH)).toBeUndefined()
  expect(swipeActs(swipeThrough(by(20), by(170), by(30)), WIDTH)).toBeUndefined()
  expect(swipeActs(swipeThrough(by(8, 2)), WIDTH)).toBeUndefined()
})

test('a finger that first goes up or down scrolls, wherever it goes then', () => {
  const swipe = swipeThrough(by(4, 14), by(180, 20))
  expect([swipe.phase, swipe.by, swipeActs(swipe, WIDTH)]).toEqual(['scrolls', 0, undefined])
  expect(swipeThrough(by(13, 12)).phase).toBe('scrolls')
})

test('one that swipes goes on doing so, however far it then goes up or down', () => {
  expect(swipeActs(swipeThrough(by(30, 4), by(150, 160)), WIDTH)).toBe('right')
})

test('the edges of the screen belong to the phone', () => {
  for (const x of [10, WIDTH - 10]) {
    const swipe = swipeMoved(swipeFrom({ x, y: 400 }, WIDTH), { x: x + 200, y: 400 })
    expect(swipeActs(swipe, WIDTH)).toBeUndefined()
  }
})

test('on a narrow element a shorter way is enough', () => {
  expect(swipeActs(swipeThrough(by(20), by(100)), 200)).toBe('right')
})
