/** The statements on attempts, and on the account that one goes out from. */
import { type Attempt, PROCESS_STOPPED } from '#domain/growth/sending/attempt'
import type { Connection } from '#domain/growth/sending/connection'
import type {
  SendableRef,
  SendingAccount,
  takenPosts,
  unnamedAnswers,
} from '#store/growth/attempts'
import { isOpen, type Memory, type Write } from './memory.ts'
import { currentDefault, filter, find, isConnected, part, parts } from './work.ts'

const DAY = 86_400_000

export const accountFor = (memory: Memory, externalId: string | null): Connection | undefined =>
  externalId === null
    ? currentDefault(memory)
    : find(memory.connections, (one) => one.external_id === externalId && isConnected(one))

const accountOf = (
  memory: Memory,
  { record_id }: SendableRef,
  except: string | null,
): SendingAccount | undefined => {
  const record = (memory.items.get(record_id) ?? memory.engagements.get(record_id))!
  const account = accountFor(memory, record.account_external_id)
  const isPost = (one: Attempt) =>
    one.sendable === 'post' &&
    one.connection_id === account?.id &&
    one.record_id !== except &&
    isOpen(one)
  return account && { ...account, has_open_posts: find(memory.attempts, isPost) !== undefined }
}

const changed = (id: string, changes: Partial<Attempt>): Write => ({
  row: id,
  change(memory) {
    const before = memory.attempts.get(id)
    const after = { ...before, ...changes } as Attempt
    memory.attempts.set(id, after)
    memory.changes.attempts.push([before, after])
  },
})

const openAttempt = (memory: Memory, { record_id }: SendableRef) =>
  find(memory.attempts, (one) => one.record_id === record_id && isOpen(one))

const mayOwn = (memory: Memory, one: Attempt): boolean =>
  isOpen(one) ||
  (['posted', 'superseded'].includes(one.state) &&
    one.external_id === null &&
    +one.ended_at! > +memory.now() - DAY)

const NOT_SENT = ['open', 'failed', 'unsent']

export const attempts = {
  openAttempt: async (memory: Memory, of: SendableRef) => openAttempt(memory, of),
  openAttemptPart: (of: SendableRef) => part((memory) => openAttempt(memory, of)),
  attemptById: async (memory: Memory, id: string) => memory.attempts.get(id),
  doubtfulSince: async (memory: Memory, attempt: SendableRef & Pick<Attempt, 'intent_at'>) => {
    const isDoubted = (one: Attempt) =>
      isOpen(one) || ['superseded', 'returned'].includes(one.state)
    const { record_id } = attempt
    const own = filter(memory.attempts, (one) => one.record_id === record_id && isDoubted(one))
    return new Date(Math.min(...[attempt, ...own].map(({ intent_at }) => +intent_at)))
  },
  wasSent: ({ record_id }: SendableRef) =>
    part(
      (memory) =>
        find(
          memory.attempts,
          (one) => one.record_id === record_id && !NOT_SENT.includes(one.state),
        ) !== undefined,
    ),
  triesSoFar: ({ record_id }: SendableRef) =>
    part((memory) => {
      const own = filter(memory.attempts, (one) => one.record_id === record_id)
      return {
        count: own.length,
        doubted: own.filter(({ state }) => state === 'superseded' || state === 'returned').length,
      }
    }),
  accountOfRecord: (of: SendableRef, except: string | null = null) =>
    part((memory) => accountOf(memory, of, except)),
  returnedAttempt: async (memory: Memory, { record_id }: SendableRef, since: Date) =>
    find(
      memory.attempts,
      (one) => one.record_id === record_id && one.state === 'returned' && one.ended_at! > since,
    ),
  ownedSince: async (memory: Memory, { sendable, connection_id }: Attempt, since: Date) =>
    filter(
      memory.attempts,
      (one) =>
        one.sendable === sendable &&
        one.connection_id === connection_id &&
        one.external_id !== null &&
        one.ended_at! >= since,
    ).map(({ external_id }) => external_id!),
  sameTextOpen: async (memory: Memory, connectionId: string, sha: string) =>
    find(
      memory.attempts,
      (one) =>
        one.sendable === 'post' &&
        one.connection_id === connectionId &&
        one.body_sha === sha &&
        isOpen(one),
    ) !== undefined,
  unnamedAttempts: (connectionId: string) => async (memory: Memory) =>
    filter(
      memory.attempts,
      (one) => one.sendable === 'post' && one.connection_id === connectionId && mayOwn(memory, one),
    ),
  unnamedAnswers:
    ({ connectionId, postId, action }: Parameters<typeof unnamedAnswers>[0]) =>
    async (memory: Memory) =>
      filter(memory.attempts, (one) => {
        const engagement = memory.engagements.get(one.record_id)
        return (
          one.connection_id === connectionId &&
          engagement?.post_id === postId &&
          engagement.action === action &&
          mayOwn(memory, one)
        )
      }),
  takenPosts:
    ({ sendable, connectionId, externalIds }: Parameters<typeof takenPosts>[0]) =>
    async (memory: Memory) =>
      filter(
        memory.attempts,
        (one) =>
          one.sendable === sendable &&
          one.connection_id === connectionId &&
          one.external_id !== null &&
          externalIds.includes(one.external_id),
      ),
  attemptsInFlight: parts((memory) =>
    filter(
      memory.attempts,
      ({ state, external_id, lease_until, error }) =>
        state === 'open' ||
        (external_id === null && lease_until > memory.now() && error === PROCESS_STOPPED),
    ),
  ),
  insertAttempt: (attempt: Attempt) => () => changed(attempt.id, attempt),
  saveAttempt:
    ({
      id,
      state,
      doubt_at,
      doubt_cause,
      returns_from,
      clean_reads,
      proof_reads,
      reads,
      external_id,
      error,
      ended_at,
    }: Attempt) =>
    () =>
      changed(id, {
        state,
        doubt_at,
        doubt_cause,
        returns_from,
        clean_reads,
        proof_reads,
        reads,
        external_id,
        error,
        ended_at,
      }),
}
