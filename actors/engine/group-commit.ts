/**
 * Group commit: a letter and those waiting behind it in its mailbox, in one transaction. Each
 * passes its own gate and sees the changes of those before it. A refused letter does not affect the
 * others.
 */

import type { Clock } from '#kernel/clock'
import { isUnavailable } from '#kernel/errors'
import type { Demand } from '#kernel/waiting-line'
import { KeyTaken } from '#store/engine/apply-effects'
import { type Db, isTimedOut, type Sharing, type Transaction } from '#store/engine/db'
import { lockActor } from '#store/engine/gate'
import type { Provenance } from '#store/engine/letter'
import { NotShared, Unchanged } from '#store/engine/shared'
import { type DecidingDeps, decideLetter, type Result, SequelFailed } from './decide-letter.ts'
import { Fenced, GaveWay } from './deps.ts'
import type { Letter } from './letter.ts'
import { type Following, nobody, type Posted } from './mailbox.ts'

/** A letter in the mailbox, with a callback for its result. */
export interface Envelope extends Posted {
  letter: Letter<unknown>
  /** The letter's, with its span. */
  provenance: Provenance
  /** Whether a caller is waiting for it. */
  demand: Demand
  /** Whether it may be decided in one transaction with letters of other tenants. */
  shares: boolean
  /** Whether its caller has given up. If that happens before the letter begins, it never runs. */
  isGone(): boolean
  /** Called once, in the tick of the commit, before any later letter of the tenant runs. */
  settle(result: Result): void
}

interface GroupCommit extends DecidingDeps {
  db: Db
  clock: Clock
  /** The answer was lost, so the last transaction may still be ending. */
  isUncertain?: boolean
}

/**
 * How many letters can share a commit, and how long others can join: the first letter waits for the
 * last.
 */
const MOST_TOGETHER = 16
const JOIN_WITHIN_MS = 25

/** The result of a letter whose caller gave up before it was decided. None of it happened. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone'
}

interface GroupMember {
  envelope: Envelope
  result?: Result
}

/** Never rejects: every envelope gets its letter's result. */
export const commitTogether = async (
  group: GroupCommit,
  first: Envelope,
  following: Following<Envelope>,
): Promise<void> => {
  await endGroup(group, first, following)
}

/** The same, but returns the failure of the transaction. */
const endGroup = async (
  group: GroupCommit,
  first: Envelope,
  following: Following<Envelope>,
): Promise<{ cause: unknown } | undefined> => {
  const members: GroupMember[] = [{ envelope: first }]
  const failure = await failureOf(group, members, following)
  if (!failure) for (const { envelope, result } of members) envelope.settle(result!)
  else if (failure.cause instanceof NotShared) await decideUnshared(group, members)
  else if (isTimedOut(failure.cause) || failure.cause instanceof GaveWay)
    await decideOthersAgain(group, members, failure)
  else if (wasRolledBack(failure.cause)) await decideAgain(group, members, failure)
  else for (const { envelope } of members) envelope.settle(failure)
  return failure
}

/**
 * Decides each letter in a transaction of its own. If the database does not answer one of them, the
 * rest fail too, because their callers have waited long enough.
 */
const decideUnshared = async (group: GroupCommit, members: GroupMember[]): Promise<void> => {
  for (const { envelope } of members) envelope.letter.undone?.()
  let failure: { cause: unknown } | undefined
  for (const { envelope } of members) {
    if (failure && isUnavailable(failure.cause)) envelope.settle(failure)
    else failure = await endGroup(group, { ...envelope, shares: false }, nobody)
  }
}

/**
 * Decides each letter alone. A letter that was already alone fails, unless it can be decided in
 * another way.
 */
const decideAgain = async (
  group: GroupCommit,
  members: GroupMember[],
  failure: { cause: unknown },
): Promise<void> => {
  for (const { envelope } of members) envelope.letter.undone?.()
  const { envelope: first } = members[0]!
  if (members.length > 1)
    for (const { envelope } of members) await commitTogether(group, envelope, nobody)
  else if (failure.cause instanceof KeyTaken) first.settle(await retry(group, first))
  else if (failure.cause instanceof SequelFailed)
    first.settle(await retry(group, withoutAhead(first)))
  else first.settle(failure)
}

/**
 * Decides each letter alone, except the one whose statement took too long, or that gave way: that
 * one fails. If the same happens to another letter, the database is slow, and the rest fail too,
 * because their callers have waited long enough.
 */
const decideOthersAgain = async (
  group: GroupCommit,
  members: GroupMember[],
  failure: { cause: unknown },
): Promise<void> => {
  for (const { envelope } of members) envelope.letter.undone?.()
  const slow = members.find(({ result }) => result === undefined)
  slow?.envelope.settle(failure)
  let isSlow = members.length === 1
  for (const { envelope } of members.filter((one) => one !== slow)) {
    if (isSlow) envelope.settle(failure)
    else isSlow = isTimedOut((await endGroup(group, envelope, nobody))?.cause)
  }
}

/** The letter with its sequel decided after its changes, where it can fail alone. */
const withoutAhead = ({ letter, ...envelope }: Envelope): Envelope => {
  const { load: _, ahead: __, ...sequel } = letter.sequel!
  return { ...envelope, letter: { ...letter, sequel } }
}

/**
 * Runs a letter again from its gate, in a transaction of its own. If another one stored an answer
 * under the same Idempotency-Key, the gate now replays that answer.
 */
const retry = async (group: GroupCommit, envelope: Envelope): Promise<Result> => {
  const members: GroupMember[] = [{ envelope: { ...envelope, shares: false } }]
  return (await failureOf(group, members, nobody)) ?? members[0]!.result!
}

/**
 * Whether a statement or a rule failed within the transaction. If the database only stopped
 * responding, the transaction may have committed.
 */
const wasRolledBack = (cause: unknown): boolean =>
  isTimedOut(cause) || !(cause instanceof Fenced || isUnavailable(cause))

/** Undefined once all letters have results and their changes are committed. */
const failureOf = async (
  group: GroupCommit,
  members: GroupMember[],
  following: Following<Envelope>,
): Promise<{ cause: unknown } | undefined> => {
  let [ended, until] = [false, Number.POSITIVE_INFINITY]
  const isClosed = () =>
    ended || members.length >= MOST_TOGETHER || group.clock.monotonic() >= until
  const decideAll = async (sql: Transaction): Promise<void> => {
    // The time starts when there is a connection, because sharing one helps most while they are
    // scarce.
    until = group.clock.monotonic() + JOIN_WITHIN_MS
    const others = joining(following, sql.sharing)
    let [changed, committed] = [false, false]
    if (group.isUncertain) await lockActor(sql, group.own)
    for (let one: GroupMember | undefined = members[0]; one; ) {
      // If no letter follows, this one commits with its own statement. Letters that arrive
      // meanwhile get their own transaction.
      const commits = (): boolean => {
        const isLast = sql.sharing?.isLast() ?? true
        committed = !changed && isLast && (isClosed() || !others.first())
        return committed
      }
      changed =
        (await decide(group, sql, one, commits).catch(sparingOthers(sql, changed))) || changed
      one = committed || isClosed() ? undefined : join(members, others.take())
    }
    if (!changed) throw new Unchanged()
  }
  try {
    const { demand, shares, letter } = members[0]!.envelope
    const kind = shares && !group.isUncertain ? letter.name : undefined
    await group.db.letter(group.own.tenantId, decideAll, demand, kind)
  } catch (cause) {
    if (!(cause instanceof Unchanged)) {
      group.isUncertain ||= !wasRolledBack(cause)
      return { cause }
    }
  } finally {
    // A body whose time has run out must take no more letters, because nobody would receive their
    // results.
    ended = true
  }
  group.isUncertain = false
  return undefined
}

/**
 * The letters that can join a group. In a transaction with other tenants, only those that share it;
 * before other tenants join, any letter can, and keeps them out.
 */
const joining = (
  following: Following<Envelope>,
  sharing: Sharing | undefined,
): Following<Envelope> => {
  const first = (): Envelope | undefined => {
    const next = following.first()
    return !next || !sharing || next.shares || sharing.isFirst() ? next : undefined
  }
  return {
    first,
    take() {
      const next = first() && following.take()
      if (next && !next.shares) sharing?.close()
      return next
    },
  }
}

/**
 * Makes a result of what keeps a letter out: the fence, or a lock. As long as nothing of its group
 * was changed, the other tenants in its transaction go on.
 */
const sparingOthers =
  ({ sharing }: Transaction, changed: boolean) =>
  (cause: unknown): never => {
    const isKeptOut = cause instanceof Fenced || cause instanceof NotShared
    throw sharing && !changed && isKeptOut ? new Unchanged('', { cause }) : cause
  }

const join = (members: GroupMember[], envelope: Envelope | undefined): GroupMember | undefined => {
  if (!envelope) return undefined
  const one: GroupMember = { envelope }
  members.push(one)
  return one
}

/** Returns whether the letter changed anything. Throws what invalidates the whole transaction. */
const decide = async (
  group: GroupCommit,
  sql: Transaction,
  one: GroupMember,
  commits: () => boolean,
): Promise<boolean> => {
  if (group.isOver()) throw new Fenced()
  if (one.envelope.isGone()) {
    one.result = { cause: new CallerGone() }
    return false
  }
  const { result, changed } = await decideLetter(group, sql, one.envelope, commits)
  one.result = result
  return changed
}
