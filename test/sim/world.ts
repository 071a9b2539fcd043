/**
 * One workspace with its processes, its network and its time; everything is simulated except the
 * code in between.
 */
import type { TenantActor } from '#actors/engine/tenant'
import type { Item } from '#domain/growth/drafting/item'
import type { PublishRequest } from '#port/network/network'
import type { Networks } from '#port/network/registry'
import { draftedItem } from '#test/domain/records'
import type { Confirmation, Look, Permit } from './again.ts'
import { type SimulatedClock, simulatedClock } from './clock.ts'
import { CLEAR, type Fate, fates, type View } from './history.ts'
import { type Memory, newMemory } from './memory.ts'
import { bodies } from './texts.ts'

/** A post on the network. Before its time it is not visible. */
export interface Post {
  externalId: string
  account: string
  text: string
  createdAt: number
  /** The item whose send made it; null if a person posted it by hand. */
  itemId: string | null
}

/** A request that went onto the wire. */
export interface Wire {
  itemId: string
  request: Pick<PublishRequest, 'account' | 'attemptId'>
  fate: Fate
  from: Node
  at: number
  /** What the sender was told, if anything. */
  answered: Fate['answer'] | undefined
}

/** A process that owns the workspace, or did. */
export interface Node {
  owner: string
  actor: TenantActor
  /** `dead`: it hears and does nothing any more. `hung`: not until it continues. */
  state: 'alive' | 'hung' | 'dead'
  /** What reached it while it hung, in order. */
  backlog: (() => void)[]
  /** Whether it has hung. */
  hasHung: boolean
  networks: Networks
  /** Its last read of an account's timeline, by connection. */
  seen: Map<string, { at: number; whole: boolean; posts: Post[] }>
  /** Whether its network promises how late it applies what it answers with an error. */
  promises: boolean
  /** Whether it has been told that it no longer owns anything. */
  isFenced: boolean
}

/** A like, a repost or a reply that reached the network. Before its time it is not visible. */
interface Reaction {
  /** The engagement whose send made it. */
  id: string
  account: string
  postId: string
  action: string
  createdAt: number
  /** For a reply, its own id; otherwise the post's. */
  externalId: string
  /** Only for a reply. */
  text: string | undefined
}

export interface World {
  clock: SimulatedClock
  memory: Memory
  node: Node
  /** Former owners that hang, the first one first. */
  hung: Node[]
  /** Lanes that are held up right before their send, in order of their claims. */
  held: { node: Node; goOn(): void }[]
  /** Whether the next process is told to rely on a promise of the network. */
  promises: boolean
  /** Whether lanes are held up there. */
  holding: boolean
  wires: Wire[]
  posts: Post[]
  reactions: Reaction[]
  /** The fate of the next request. */
  fate: Fate
  view: View
  /** What a person approved last, by item and engagement; without a text: an empty one. */
  approvals: Map<string, { body: string; account: string | null }>
  /** Attempts that, since the pause, answers to pause-all have said might still go out. */
  announced: Set<string>
  /** Attempts that were open when a person disconnected their account, by account. */
  left: Map<string, Set<string>>
  marked: Set<string>
  /** Items with an open attempt, until its outcome is written. */
  underWay: Set<string>
  /** Items that somebody has changed, past every command, since they were approved. */
  edited: Set<string>
  /** Whether the last read of an account showed everything that there was to see. */
  readWhole: Map<string, boolean>
  /** When a person asked last for an item to go out, now or at a time. */
  asked: Map<string, number>
  /** A person's last request that an item be posted again, by item. */
  confirmed: Map<string, Confirmation>
  /** The last read of the timeline for an item, by item. */
  looks: Map<string, Look>
  /** When the timeline was read to its end for an item, by item. */
  wholeLooks: Map<string, number[]>
  /**
   * What the attempt may do that a commit puts in the place of a superseded one, by item; and each
   * attempt that did, by attempt.
   */
  permits: Map<string, Permit>
  permitted: Map<string, Permit>
  /** Whether a transaction has failed, or its result was lost. */
  hasFailed: boolean
  /** What was found wrong. */
  broken: string[]
  /** How often what happened: `<group> <what>`. */
  counts: Map<string, number>
}

const START = Date.UTC(2026, 10, 21, 7)
/** How far the network's clock is ahead of the database's. */
export const SKEW_MS = 3_000

export const nowOf = ({ clock }: Pick<World, 'clock'>): number => START + clock.monotonic()

export const count = ({ counts }: Pick<World, 'counts'>, what: string): void => {
  counts.set(what, (counts.get(what) ?? 0) + 1)
}

/** Asserts something; if it is false, the history has failed with these words. */
export const must = (world: World, holds: boolean, words: string): void => {
  if (!holds) world.broken.push(words)
}

export type Hold = (holds: boolean, words: string) => void

/** Something reaches a process: at once, when it continues, or never. */
export const reach = (node: Node, happen: () => void): void => {
  if (node.state === 'hung') node.backlog.push(happen)
  else if (node.state === 'alive') happen()
}

const connection = (name: string, isDefault: 'default' | 'other') => ({
  id: `connection-${name}`,
  network: 'simulated',
  external_id: name,
  handle: name,
  display_name: null,
  status: 'connected' as const,
  status_reason: null,
  reading_reason: null,
  credentials: null,
  is_default: isDefault === 'default',
  created_at: new Date(START),
  updated_at: new Date(START),
})

export const itemIds = bodies.map((_, index) => `item-${index}`)
export const itemOf = ({ memory }: World, id: string): Item => memory.items.get(id)!

export const newWorld = (counts: Map<string, number>): World => {
  const clock = simulatedClock()
  const memory = newMemory(() => new Date(nowOf({ clock })))
  for (const [index, body] of bodies.entries())
    memory.items.set(itemIds[index]!, { ...draftedItem, id: itemIds[index]!, body })
  for (const one of [connection('one', 'default'), connection('two', 'other')])
    memory.connections.set(one.id, one)
  return {
    clock,
    memory,
    // The first process takes the workspace over before anything else happens.
    node: undefined as unknown as Node,
    hung: [],
    held: [],
    promises: true,
    holding: true,
    wires: [],
    posts: [],
    reactions: [],
    fate: fates.posted!,
    view: CLEAR,
    approvals: new Map(),
    announced: new Set(),
    left: new Map(),
    marked: new Set(),
    underWay: new Set(),
    edited: new Set(),
    readWhole: new Map(),
    asked: new Map(),
    confirmed: new Map(),
    looks: new Map(),
    wholeLooks: new Map(),
    permits: new Map(),
    permitted: new Map(),
    hasFailed: false,
    broken: [],
    counts,
  }
}
