import { invitationRecord } from '#contract/records/app/invitation'
import { keyRecord } from '#contract/records/app/key'
import { newId } from '#kernel/ids'
import { type RowsOf, sampleOf } from './sample.ts'

export const appRows = ({ mark, person, item, now, tomorrow }: RowsOf) => {
  const times = { created_at: now, updated_at: now }
  return {
    work: {
      id: newId(),
      lane: 'sync',
      kind: mark,
      ref_id: item,
      origin: 'manual',
      run_at: tomorrow,
    },
    idempotency: {
      ref_id: item,
      key: mark,
      operation: mark,
      fingerprint: mark,
      state: 'done',
      status: 200,
      body: mark,
      expires_at: tomorrow,
    },
    counter: { key: mark, period: mark, used: 1 },
    audit: {
      id: newId(),
      at: now,
      actor_kind: 'system',
      actor_id: mark,
      surface: 'test',
      // One that is done without a letter.
      operation: `operator.${mark}`,
      ref_id: item,
    },
    outbox: {
      id: newId(),
      type: mark,
      data: {},
      created_at: now,
      state: 'delivered',
      expires_at: tomorrow,
    },
    member: { person_id: person, role: 'owner', ...times },
    session: {
      id: newId(),
      person_id: person,
      kind: 'browser',
      user_agent: mark,
      expires_at: tomorrow,
    },
    invitation: sampleOf(invitationRecord, mark, { email: mark, expires_at: tomorrow }),
    api_key: sampleOf(keyRecord, mark, { person_id: person }),
    webhook_endpoint: {
      id: newId(),
      url: mark,
      secret: Buffer.from(mark),
      status: 'active',
      ...times,
    },
    account_authorization: {
      id: newId(),
      person_id: person,
      network: mark,
      handle: mark,
      status: 'refused',
      reason: mark,
      state_hash: Buffer.from(mark),
      secrets: Buffer.from(mark),
      created_at: now,
      expires_at: tomorrow,
    },
  }
}
