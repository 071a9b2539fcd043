/** The console under a finger. */
import type { Page } from 'playwright-core'

interface Point {
  x: number
  y: number
}

const STEPS = 8

const STEP_S = 0.016
/** It rests before it leaves, so that nothing goes on scrolling by itself. */
const REST_S = 0.3

/** Puts a finger down, moves it by `by`, and lifts it, as a real one: the browser may scroll. */
export const dragFinger = async (page: Page, from: Point, by: Point): Promise<void> => {
  const session = await page.context().newCDPSession(page)
  const begun = Date.now() / 1_000
  const send = (
    type: 'touchStart' | 'touchMove' | 'touchEnd',
    touchPoints: Point[],
    after: number,
  ) => session.send('Input.dispatchTouchEvent', { type, touchPoints, timestamp: begun + after })
  const at = (share: number): Point => ({ x: from.x + by.x * share, y: from.y + by.y * share })
  await send('touchStart', [from], 0)
  for (let step = 1; step <= STEPS; step++)
    await send('touchMove', [at(step / STEPS)], step * STEP_S)
  await send('touchMove', [at(1)], STEPS * STEP_S + REST_S)
  await send('touchEnd', [], STEPS * STEP_S + 2 * REST_S)
  await session.detach()
}

const SMALL = `(() => {
  const isShown = (one) => one.checkVisibility({ visibilityProperty: true }) &&
    getComputedStyle(one).clipPath !== 'inset(50%)' && !one.closest('.unseen')
  const targetOf = (one) => one.closest('label') ?? one
  return [...document.querySelectorAll('button, a[href], input, select, summary')]
    .filter((one) => isShown(targetOf(one)) && !one.closest('.skip'))
    .map(targetOf)
    .filter((one) => {
      const { height, top } = one.getBoundingClientRect()
      return height > 0 && height < 44 && top > -100
    })
    .map((one) => one.outerHTML.slice(0, 120))
})()`

/** What is too small for a thumb: less than 44 px high. */
export const smallTargets = (page: Page): Promise<string[]> => page.evaluate<string[]>(SMALL)
