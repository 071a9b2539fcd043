/** Decides by a swipe, beside the buttons that do the same. */
import { type RefObject, useEffect, useRef } from 'react'
import { type Swipe, type SwipeSide, swipeActs, swipeFrom, swipeMoved } from './swipe.ts'

/** What a swipe to each side does; undefined if nothing. */
export type SwipeActs = Partial<Record<SwipeSide, (() => void) | undefined>>

/** Where a finger marks text, or moves what is under it. */
const OWN_MOVES = 'input, select, textarea:focus, [data-own-swipes]'

const calm = matchMedia('(prefers-reduced-motion: reduce)')

const show = (element: HTMLElement, { by, phase }: Swipe, side: SwipeSide | undefined): void => {
  if (phase !== 'swipes') return
  element.dataset.swipe = by > 0 ? 'right' : 'left'
  element.dataset.swipeActs = String(side !== undefined)
  element.style.setProperty('--swipe', `${by}px`)
}

const clear = (element: HTMLElement): void => {
  delete element.dataset.swipe
  delete element.dataset.swipeActs
  element.style.removeProperty('--swipe')
}

/** Follows one finger. Returns how to stop listening. */
const follow = (element: HTMLElement, acts: () => SwipeActs): (() => void) => {
  let swipe: Swipe | undefined
  let finger: number | undefined
  const end = (): void => {
    swipe = finger = undefined
    clear(element)
  }
  const mayAct = (): SwipeSide | undefined => {
    const side = swipe && swipeActs(swipe, element.clientWidth)
    return side && acts()[side] ? side : undefined
  }
  const down = ({
    pointerType,
    pointerId,
    isPrimary,
    target,
    clientX: x,
    clientY: y,
  }: PointerEvent) => {
    // A second finger makes it another gesture.
    if (!isPrimary) return end()
    if (pointerType !== 'touch' || calm.matches) return
    if ((target as Element).closest(OWN_MOVES)) return
    finger = pointerId
    swipe = swipeFrom({ x, y }, innerWidth)
  }
  const move = ({ pointerId, clientX: x, clientY: y }: PointerEvent): void => {
    if (!swipe || pointerId !== finger) return
    swipe = swipeMoved(swipe, { x, y })
    const side: SwipeSide = swipe.by > 0 ? 'right' : 'left'
    // What does nothing does not move.
    if (acts()[side]) show(element, swipe, mayAct())
    else clear(element)
  }
  const up = ({ pointerId }: PointerEvent): void => {
    if (pointerId !== finger) return
    const side = mayAct()
    end()
    if (side) acts()[side]?.()
  }
  const listeners = { pointerdown: down, pointermove: move, pointerup: up, pointercancel: end }
  for (const [name, listener] of Object.entries(listeners))
    element.addEventListener(name, listener as EventListener)
  return () => {
    for (const [name, listener] of Object.entries(listeners))
      element.removeEventListener(name, listener as EventListener)
    end()
  }
}

/** The element needs `touch-action: pan-y`, which the class `swiped` gives. */
export const useSwipe = (ref: RefObject<HTMLElement | null>, acts: SwipeActs): void => {
  const latest = useRef(acts)
  latest.current = acts
  useEffect(() => follow(ref.current!, () => latest.current), [ref])
}
