/** One workspace with its processes, its network and its time, all simulated but the code in between. */
import type { TenantActor } from '#actors/tenant'
import type { Item } from '#domain/item'
import type { PublishRequest } from '#port/network/network'
import { bodies } from '#test/domain/posting-commands'
import { draftedItem } from '#test/domain/records'
import { type ManualClock, manualClock } from '#test/support/manual-clock'
import { CLEAR, type Fate, fates, type View } from './history.ts'
import { type Memory, newMemory } from './memory.ts'

/** A post of the network; one whose time has not come yet is not seen before. */
export interface Post {
  externalId: string
  account: string
  text: string
  createdAt: number
  /** The item whose send made it; null where a person posted by hand. */
  itemId: string | null
}

/** A request that went onto the wire. */
export interface Wire {
  itemId: string
  request: PublishRequest
  fate: Fate
  /** What the sender was told, if anything. */
  answered: Fate['answer'] | undefined
}

/** A process that owns the workspace, or did. */
export interface Node {
  actor: TenantActor
  /** A dead one hears nothing and does nothing any more. */
  alive: boolean
}

export interface World {
  clock: ManualClock
  memory: Memory
  node: Node | undefined
  /** Lanes that are held up right before their send, in order of their claims. */
  held: { node: Node; goOn(): void }[]
  /** Whether lanes are held up there. */
  holding: boolean
  wires: Wire[]
  posts: Post[]
  /** Of the next request. */
  fate: Fate
  view: View
  /** What a person approved last, by item. */
  approvals: Map<string, { body: string; account: string | null }>
  /** Attempts that the answers to pause-all, since the pause, said might still go out. */
  announced: Set<string>
  /** Attempts that were open when a person disconnected their account, by account. */
  left: Map<string, Set<string>>
  marked: Set<string>
  /** What was found wrong. */
  broken: string[]
}

const START = Date.UTC(2026, 10, 21, 7)
/** The network's clock is ahead of the database's by so much. */
export const SKEW_MS = 3_000

export const nowOf = ({ clock }: Pick<World, 'clock'>): number => START + clock.monotonic()

const connection = (name: string, isDefault: 'default' | 'other') => ({
  id: `connection-${name}`,
  network: 'simulated',
  external_id: name,
  handle: name,
  status: 'connected' as const,
  is_default: isDefault === 'default',
  created_at: new Date(START),
  updated_at: new Date(START),
})

export const itemId = (index: number): string => `item-${index}`
export const itemOf = ({ memory }: World, id: string): Item => memory.items.get(id)!

export const newWorld = (): World => {
  const clock = manualClock()
  const memory = newMemory(() => new Date(nowOf({ clock })))
  for (const [index, body] of bodies.entries()) memory.items.set(itemId(index), { ...draftedItem, id: itemId(index), body })
  for (const one of [connection('one', 'default'), connection('two', 'other')]) memory.connections.set(one.id, one)
  return {
    clock,
    memory,
    node: undefined,
    held: [],
    holding: true,
    wires: [],
    posts: [],
    fate: fates.posted!,
    view: CLEAR,
    approvals: new Map(),
    announced: new Set(),
    left: new Map(),
    marked: new Set(),
    broken: [],
  }
}
