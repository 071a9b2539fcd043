/** What the palette offers: places, and commands of what is on the screen. */
import { useEffect, useRef } from 'react'
import type { ShortcutId } from '../keys/keys.ts'
import { createStore } from '../parts/store.ts'
import { hrefOf } from '../router/paths.ts'
import { navigate } from '../router/router.tsx'

export interface Offered {
  id: string
  says: string
  kind: 'place' | 'command'
  shortcut?: ShortcutId
  act(): void
}

const place = (id: string, says: string, href: string, shortcut?: ShortcutId): Offered => ({
  id,
  says,
  kind: 'place',
  ...(shortcut && { shortcut }),
  act: () => navigate(href),
})

export const places: Offered[] = [
  place('inbox', 'Inbox', hrefOf('inbox', {}), 'goInbox'),
  place('settings', 'Settings', hrefOf('settings', {}), 'goSettings'),
  place('keys', 'Settings: keys', hrefOf('setting', { page: 'keys' })),
  place('webhook', 'Settings: webhook', hrefOf('setting', { page: 'webhook' })),
  place('channels', 'Settings: channels', hrefOf('setting', { page: 'channels' })),
  place('browser', 'Settings: this browser', hrefOf('setting', { page: 'browser' })),
]

export const offeredCommands = createStore<readonly Offered[]>([])

/** Offers a command in the palette while the component is on the screen. */
export const useOffered = (command: Omit<Offered, 'kind'> | undefined): void => {
  const latest = useRef(command)
  latest.current = command
  const { id, says, shortcut } = command ?? {}
  useEffect(() => {
    if (id === undefined || says === undefined) return
    const offered: Offered = {
      id,
      says,
      kind: 'command',
      ...(shortcut && { shortcut }),
      act: () => latest.current?.act(),
    }
    offeredCommands.set([...offeredCommands.get(), offered])
    return () => offeredCommands.set(offeredCommands.get().filter((one) => one !== offered))
  }, [id, says, shortcut])
}

/** Those that have each word of what was typed; `>` leaves commands alone. */
export const offeredFor = (all: readonly Offered[], typed: string): Offered[] => {
  const only = typed.startsWith('>')
  const words = typed.replace(/^>/, '').toLowerCase().split(/\s+/).filter(Boolean)
  return all.filter(
    ({ says, kind }) =>
      (!only || kind === 'command') && words.every((word) => says.toLowerCase().includes(word)),
  )
}
