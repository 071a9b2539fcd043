/** Rows of work that send a record or read what became of it, and their payloads. */
import type { Attempt } from '#domain/growth/sending/attempt'
import type { Again } from '#domain/growth/sending/post-again'
import type { Origin, Sendable, SendableKind } from '#domain/growth/sending/sendable'
import type { Effects, NewWork } from '#store/engine/letter'
import type { Loaded } from '#store/engine/load'
import { type Work, workFor } from '#store/engine/work'
import { openAttemptPart, type SendableRef, saveAttempt } from '#store/growth/attempts'
import { newWork } from '../work.ts'

/** As stored in JSON. */
interface SendPayload {
  sendable: SendableKind
  /** Sends that provably failed since the record was due. */
  tries?: number
  /** A person's request to send again. */
  again?: { asked_at: string; clear?: { readAt: string; attemptId: string; review: boolean } }
}

const sendPayloadOf = ({ payload }: Work): SendPayload => payload as unknown as SendPayload

/** The record of a row of work. */
export const recordOf = (work: Work): SendableRef => ({
  sendable: sendPayloadOf(work).sendable,
  record_id: work.ref_id,
})

export const triesOf = (work: Work): number => sendPayloadOf(work).tries ?? 0

/** The person's request to send again, if the row carries one. */
export const againOf = (work: Work): Again | undefined => {
  const { again } = sendPayloadOf(work)
  if (!again) return undefined
  const { asked_at, clear } = again
  return {
    askedAt: new Date(asked_at),
    ...(clear ? { clear: { ...clear, readAt: new Date(clear.readAt) } } : {}),
  }
}

const payloadOf = (
  { sendable }: SendableRef,
  again?: Again,
): Record<string, unknown> & SendPayload => ({
  sendable,
  ...(again && {
    again: {
      asked_at: again.askedAt.toISOString(),
      ...(again.clear
        ? { clear: { ...again.clear, readAt: again.clear.readAt.toISOString() } }
        : {}),
    },
  }),
})

interface ReadRequest {
  origin: Origin
  runAt: Date
  again?: Again
}

interface SendRequest extends ReadRequest {
  record: Sendable
  tries?: number
}

export const sendWork = (
  of: SendableRef,
  { record, origin, runAt, again, tries }: SendRequest,
): NewWork =>
  newWork('send', {
    refId: record.id,
    account: record.account_external_id,
    origin,
    runAt,
    payload: { ...payloadOf(of, again), ...(tries === undefined ? {} : { tries }) },
  })

export const readWork = (of: SendableRef, { origin, runAt, again }: ReadRequest): NewWork =>
  newWork('reconcile', {
    refId: of.record_id,
    sendable: of.sendable,
    origin,
    runAt,
    payload: payloadOf(of, again),
  })

/** Reads the timeline for a person who wants the record sent again. */
export const againWork = (of: SendableRef, askedAt: Date): NewWork =>
  readWork(of, { origin: 'manual', runAt: askedAt, again: { askedAt } })

/** Starts an existing row of reading work anew, without its earlier payload. */
export const rereadEffects = (
  work: Work,
  of: SendableRef,
  { origin, runAt, again }: ReadRequest,
): Effects => ({
  requeued: [{ id: work.id, runAt, origin, payload: payloadOf(of, again) }],
})

/** Queues the send of a record: moves its existing row, or adds one. */
export const enqueueSend = (
  sendable: SendableKind,
  { record, origin, runAt, existing }: Omit<SendRequest, 'again'> & { existing: Work | undefined },
): Effects => {
  const fresh = sendWork({ sendable, record_id: record.id }, { record, origin, runAt })
  return existing ? { requeued: [{ ...fresh, id: existing.id }] } : { work: [fresh] }
}

/** What `endByHand` ends. */
export const underWay = (of: SendableRef) => ({
  send: workFor('send', of.record_id),
  reading: workFor('reconcile', of.record_id),
  attempt: openAttemptPart(of),
})

/** Ends the work and the open attempt of a record that a person settles. */
export const endByHand = (
  { send, reading, attempt }: Loaded<ReturnType<typeof underWay>>,
  { state, now }: { state: Extract<Attempt['state'], 'posted' | 'superseded'>; now: Date },
): Required<Pick<Effects, 'settled' | 'writes'>> => ({
  settled: [send, reading].flatMap((work) => work?.id ?? []),
  writes: attempt ? [saveAttempt({ ...attempt, state, ended_at: now })] : [],
})
