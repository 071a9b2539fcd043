/** The errors that an operation can return. */
import type { ErrorCode } from '#kernel/errors'
import type { Included } from './kinds.ts'
import { isCostly } from './limits.ts'
import { type Op, readsOnly, takesKey } from './op.ts'

/** Errors that any operation can return. */
const commonErrors: readonly ErrorCode[] = [
  'invalid_input',
  'unauthenticated',
  'missing_scope',
  'forbidden',
  'conflict',
  'rate_limited',
  'internal',
  'unavailable',
]
const bodyErrors: readonly ErrorCode[] = [
  'request_timeout',
  'payload_too_large',
  'unsupported_media_type',
]
const keyErrors: readonly ErrorCode[] = ['idempotency_in_flight', 'idempotency_key_reused']
/** Errors that a public operation cannot return. */
const callerErrors: readonly ErrorCode[] = [
  'unauthenticated',
  'missing_scope',
  'forbidden',
  'conflict',
]

/** The errors that follow from the plan limits of an operation. */
const planErrors = ({ cap, quota, feature }: Included): ErrorCode[] => [
  ...(quota || (cap && isCostly(cap)) ? (['plan_invalid'] as const) : []),
  ...(quota ? (['plan_quota_exceeded'] as const) : []),
  ...(feature ? (['plan_feature_disabled'] as const) : []),
]

/** Every error that the operation can return. */
export const errorsOf = (o: Op): ErrorCode[] => [
  ...new Set([
    ...o.errors,
    ...planErrors(o),
    ...planErrors(o.includes?.of ?? {}),
    ...commonErrors.filter((code) => o.kind !== 'public' || !callerErrors.includes(code)),
  ]),
  ...(readsOnly(o) ? [] : bodyErrors),
  ...(takesKey(o) ? keyErrors : []),
]
