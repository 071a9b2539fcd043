/**
 * Tells streams in this process which records of their workspace have changed, as it happens.
 * Nothing is stored: a stream that has missed something is told to read again.
 */
import { type HintKind, hintRules } from '#contract/hints'
import {
  type ChangeHint,
  type CommittedLetter,
  hintsOf,
  isHintKind,
  isPrivate,
} from '#decisions/app/hints'
import type { Log } from '#kernel/log'
import type { Sighted } from '#store/engine/letter'
import { type Principal, roleOf } from '#store/engine/principal'
import { mayRun } from '../../engine/access.ts'
import type { Call } from '../../engine/call.ts'

type HintReader = Pick<Call, 'principal' | 'scopes'>

export interface HintListener {
  reader: HintReader
  /** Hints as server-sent events, which other listeners have in common. */
  hear(events: Uint8Array): void
  /** Hints were lost. */
  reread(): void
  /** This process no longer owns the workspace. */
  left(): void
}

/** Which of these records a principal may be told of. They may belong to private conversations. */
export type Secrecy = (
  tenantId: string,
  records: readonly Pick<ChangeHint, 'kind' | 'id' | 'job'>[],
) => Promise<(nth: number, principal: Principal) => boolean>

/** How long hints are gathered, so that busy workspaces wake their streams less often. */
const GATHER_MS = 20
/** More hints than this at once tell less than to read again. */
const MOST_GATHERED = 500

/** Whether the reader may be told of records of the kind, unless they are private. */
const mayBeTold = (kind: HintKind, reader: HintReader): boolean => {
  const rule = hintRules[kind]
  if ('owners' in rule && roleOf(reader.principal) !== 'owner') return false
  return mayRun(rule.read, reader)
}

/** Those who may be told of the same kinds of records. */
interface Audience {
  reader: HintReader
  listeners: Set<HintListener>
}

/** Those who follow one workspace. */
interface Room {
  audiences: Map<string, Audience>
  hints: Map<string, ChangeHint>
  /** Whether there were too many hints. */
  isFull: boolean
  timer: Timer | undefined
  /** Hints of records that may be private, while it is asked who may know of others. */
  secrets: ChangeHint[]
  isAsking: boolean
}

const newRoom = (): Room => ({
  audiences: new Map(),
  hints: new Map(),
  isFull: false,
  timer: undefined,
  secrets: [],
  isAsking: false,
})

const audienceOf = ({ principal, scopes }: HintReader): string =>
  `${roleOf(principal)} ${[...scopes].sort().join(' ')}`

const encoder = new TextEncoder()

const keyOf = ({ what, kind, id, by, job }: ChangeHint): string =>
  `${what} ${kind} ${id} ${by.id} ${job}`

/** Whether it depends on the record who may be told. A hint of no record tells nothing of any. */
const isSecret = ({ kind, id, job }: ChangeHint): boolean =>
  isPrivate(kind) && (id !== null || job !== undefined)

const textOf = ({ what, kind, id, by }: ChangeHint): string =>
  `event: hint\ndata: ${JSON.stringify({ what, kind, id, by })}\n\n`

export class HintBus {
  readonly #rooms = new Map<string, Room>()

  constructor(
    private readonly secrecy: Secrecy,
    private readonly log: Log,
  ) {}

  isFollowed(tenantId: string): boolean {
    return this.#rooms.has(tenantId)
  }

  /** The workspaces that are followed by owners in person. */
  followedByOwners(): string[] {
    const isOwners = ({ reader }: Audience) => mayBeTold('session', reader)
    return [...this.#rooms].flatMap(([tenantId, { audiences }]) =>
      [...audiences.values()].some(isOwners) ? tenantId : [],
    )
  }

  follow(tenantId: string, listener: HintListener): Disposable {
    const room = this.#rooms.get(tenantId) ?? newRoom()
    this.#rooms.set(tenantId, room)
    const key = audienceOf(listener.reader)
    const audience = room.audiences.get(key) ?? { reader: listener.reader, listeners: new Set() }
    room.audiences.set(key, audience)
    audience.listeners.add(listener)
    return {
      [Symbol.dispose]: () => {
        audience.listeners.delete(listener)
        if (audience.listeners.size === 0 && room.audiences.get(key) === audience)
          room.audiences.delete(key)
        if (room.audiences.size > 0 || this.#rooms.get(tenantId) !== room) return
        clearTimeout(room.timer)
        this.#rooms.delete(tenantId)
      },
    }
  }

  /** A letter has committed. */
  committed(tenantId: string, letter: CommittedLetter): void {
    const room = this.#rooms.get(tenantId)
    if (!room) return
    this.tell(tenantId, hintsOf(letter))
    for (const { kind, sightOf } of letter.effects.news ?? [])
      if (sightOf && isHintKind(kind)) rereadBy(room, kind, sightOf)
  }

  tell(tenantId: string, hints: readonly ChangeHint[]): void {
    const room = this.#rooms.get(tenantId)
    if (!room || hints.length === 0) return
    room.isFull ||= room.hints.size + hints.length > MOST_GATHERED
    if (!room.isFull) for (const hint of hints) room.hints.set(keyOf(hint), hint)
    room.timer ??= setTimeout(() => this.#deliver(tenantId, room), GATHER_MS)
  }

  /** This process no longer owns the workspace. */
  left(tenantId: string): void {
    for (const listener of listenersIn(this.#rooms.get(tenantId))) listener.left()
  }

  #deliver(tenantId: string, room: Room): void {
    const hints = [...room.hints.values()]
    const { isFull } = room
    room.hints.clear()
    room.isFull = false
    room.timer = undefined
    if (isFull) rereadAll(room)
    else this.#deliverNow(tenantId, room, hints)
  }

  #deliverNow(tenantId: string, room: Room, hints: readonly ChangeHint[]): void {
    const shared = hints.filter((hint) => !isSecret(hint))
    for (const { reader, listeners } of room.audiences.values())
      sendTo(
        listeners,
        shared.filter(({ kind }) => mayBeTold(kind, reader)),
      )
    room.secrets.push(...hints.filter(isSecret))
    if (room.secrets.length > MOST_GATHERED) {
      room.secrets = []
      rereadAll(room)
    }
    if (room.secrets.length > 0 && !room.isAsking) void this.#deliverSecrets(tenantId, room)
  }

  /** One question at a time, so that hints stay in order and a slow database has few to answer. */
  async #deliverSecrets(tenantId: string, room: Room): Promise<void> {
    room.isAsking = true
    while (room.secrets.length > 0) {
      const hints = room.secrets
      room.secrets = []
      try {
        tellSecrets(room, hints, await this.secrecy(tenantId, hints))
      } catch (cause) {
        this.log.debug({ err: cause, workspace: tenantId }, 'it is unknown who may have hints')
        rereadAll(room)
      }
    }
    room.isAsking = false
  }
}

/** Encodes hints once for all who may know of the same ones. */
const tellSecrets = (
  { audiences }: Room,
  hints: readonly ChangeHint[],
  mayKnow: Awaited<ReturnType<Secrecy>>,
): void => {
  for (const { reader, listeners } of audiences.values()) {
    const byKnown = Map.groupBy(listeners, ({ reader: { principal } }) =>
      hints.map((_, nth) => (mayKnow(nth, principal) ? '1' : '0')).join(''),
    )
    for (const [known, all] of byKnown)
      sendTo(
        all,
        hints.filter(({ kind }, nth) => known[nth] === '1' && mayBeTold(kind, reader)),
      )
  }
}

const listenersIn = (room: Room | undefined): HintListener[] =>
  [...(room?.audiences.values() ?? [])].flatMap(({ listeners }) => [...listeners])

const rereadAll = (room: Room): void => {
  for (const listener of listenersIn(room)) listener.reread()
}

/** Tells those whose sight has changed: no hint says what else they see now, or no longer. */
const rereadBy = ({ audiences }: Room, kind: HintKind, { people, isAllBut }: Sighted): void => {
  for (const { reader, listeners } of audiences.values()) {
    if (!mayBeTold(kind, reader)) continue
    for (const listener of listeners) {
      const { member } = listener.reader.principal
      const isOneOf = member !== undefined && people.includes(member.personId)
      if (isOneOf !== isAllBut) listener.reread()
    }
  }
}

const sendTo = (listeners: Iterable<HintListener>, hints: readonly ChangeHint[]): void => {
  if (hints.length === 0) return
  const events = encoder.encode(hints.map(textOf).join(''))
  for (const listener of listeners) listener.hear(events)
}
