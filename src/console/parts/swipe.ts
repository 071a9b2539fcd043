/**
 * A finger that moves to the side over something that can be decided. One that moves up or down
 * scrolls, as everywhere.
 */

export interface FingerPoint {
  x: number
  y: number
}

export interface Swipe {
  from: FingerPoint
  /** `undecided`: it has not moved far enough to tell. `scrolls`: it is none of ours. */
  phase: 'undecided' | 'swipes' | 'scrolls'
  /** How far to the right, in pixels. */
  by: number
}

export type SwipeSide = 'left' | 'right'

/** A finger trembles by less. */
const MEANT_PX = 12
/** It goes to the side if it goes this many times as far there as up or down. */
const SIDEWAYS = 1.5
/** What the browser and the phone take for their own: a way back. */
const EDGE_PX = 24
const MOST_PX = 140
const SHARE = 0.35

export const swipeFrom = (from: FingerPoint, windowWidth: number): Swipe => ({
  from,
  phase: from.x < EDGE_PX || from.x > windowWidth - EDGE_PX ? 'scrolls' : 'undecided',
  by: 0,
})

const phaseOf = (across: number, along: number): Swipe['phase'] => {
  if (Math.max(across, along) < MEANT_PX) return 'undecided'
  return across >= along * SIDEWAYS ? 'swipes' : 'scrolls'
}

/** Once it swipes or scrolls, it does so to its end. */
export const swipeMoved = (swipe: Swipe, { x, y }: FingerPoint): Swipe => {
  if (swipe.phase === 'scrolls') return swipe
  const by = x - swipe.from.x
  if (swipe.phase === 'swipes') return { ...swipe, by }
  const phase = phaseOf(Math.abs(by), Math.abs(y - swipe.from.y))
  return { ...swipe, phase, by: phase === 'swipes' ? by : 0 }
}

/** To which side it would act if the finger left now; undefined if it went back, or not far. */
export const swipeActs = ({ phase, by }: Swipe, width: number): SwipeSide | undefined => {
  if (phase !== 'swipes' || Math.abs(by) < Math.min(MOST_PX, width * SHARE)) return undefined
  return by > 0 ? 'right' : 'left'
}
