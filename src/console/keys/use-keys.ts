/** One listener for all shortcuts. */
import { useEffect, useRef } from 'react'
import { createStore } from '../parts/store.ts'
import { chordOf, type ShortcutId, shortcutOf } from './keys.ts'

export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent)

const KEPT = 'tendril.single-keys'
/** Whether keys without a modifier act, which some people cannot use (WCAG 2.1.4). */
export const singleKeys = createStore(localStorage.getItem(KEPT) !== 'off')
singleKeys.subscribe(() => localStorage.setItem(KEPT, singleKeys.get() ? 'on' : 'off'))

type Handler = () => void

/** The handlers of what is on the screen; of several for one shortcut, the newest acts. */
const handlers = new Map<ShortcutId, Handler[]>()

/** The shortcuts that do something at the moment. */
export const activeShortcuts = (): ShortcutId[] =>
  [...handlers].filter(([, list]) => list.length > 0).map(([id]) => id)

/** Does what the shortcut does at the moment. */
export const pressShortcut = (id: ShortcutId): void => handlers.get(id)?.at(-1)?.()

/** `act` is undefined while the shortcut does nothing. */
export const useShortcut = (id: ShortcutId, act: Handler | undefined): void => {
  const latest = useRef(act)
  latest.current = act
  const isActive = act !== undefined
  useEffect(() => {
    if (!isActive) return
    const handler = () => latest.current?.()
    handlers.set(id, [...(handlers.get(id) ?? []), handler])
    return () => {
      handlers.set(
        id,
        handlers.get(id)!.filter((one) => one !== handler),
      )
    }
  }, [id, isActive])
}

const SEQUENCE_MS = 1_500
let first: { chord: string; at: number } | undefined

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && !['radio', 'checkbox', 'button'].includes(target.type)))

/** Keys by which a control that has the focus is used. */
const OWN_KEYS = ['Enter', 'Space']
const isControl = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('button, a, input, summary, select') !== null

const isSingle = (chord: string): boolean => !chord.startsWith('Mod+') && chord !== 'Escape'

const actsOn = (id: ShortcutId, chord: string, typing: boolean): boolean => {
  const shortcut = shortcutOf(id)
  return (
    shortcut.chord === chord &&
    (typing ? shortcut.typing === true : shortcut.scope !== 'editor') &&
    (singleKeys.get() || !isSingle(chord))
  )
}

const find = (chord: string, typing: boolean): Handler | undefined => {
  for (const [id, list] of [...handlers].reverse())
    if (list.length > 0 && actsOn(id, chord, typing)) return list.at(-1)
  return undefined
}

const press = (event: KeyboardEvent): void => {
  const { key, shiftKey: shift, altKey: alt, target } = event
  const chord = chordOf({ key, shift, alt, mod: event.metaKey || event.ctrlKey })
  if (event.defaultPrevented || event.isComposing || chord === undefined) return
  if (OWN_KEYS.includes(chord) && isControl(target)) return
  // A dialog has keys of its own; those of the page behind it rest.
  if (document.querySelector('dialog:modal') && chord !== 'Mod+Enter') return
  const typing = isTyping(target)
  const before = first && event.timeStamp - first.at < SEQUENCE_MS ? first.chord : undefined
  first = typing ? undefined : { chord, at: event.timeStamp }
  const handler =
    (before !== undefined && find(`${before} ${chord}`, typing)) || find(chord, typing)
  if (!handler) return
  event.preventDefault()
  handler()
}

export const listenForKeys = (): void => window.addEventListener('keydown', press)
