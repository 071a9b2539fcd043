/**
 * Validates commands that another process forwarded. Their signature proves who sent them, but not
 * that they are well formed.
 */
import { Type as T } from '@sinclair/typebox'
import { Id, oneOf } from '#contract/shapes'
import { fail } from '#kernel/errors'
import { roles } from '#kernel/roles'
import { CONTEXT_PATTERN } from '#kernel/trace'
import { validate } from '#ops/engine/validate'
import type { RemoteCommand } from '#port/nodes'

const Member = T.Object({ personId: Id, role: oneOf(roles) })

/** Allows unknown fields, which a newer process may send. The operation validates its own input. */
const Envelope = T.Object({
  operation: T.String(),
  call: T.Object({
    tenantId: Id,
    principal: T.Object({
      kind: oneOf(['key', 'session', 'system']),
      id: T.String(),
      member: T.Optional(Member),
    }),
    scopes: T.Array(T.String()),
    surface: oneOf(['rest', 'mcp', 'cli', 'admin']),
    requestId: T.String(),
    idempotencyKey: T.String(),
    ownKey: T.Optional(T.Boolean()),
    trace: T.Optional(T.String({ pattern: CONTEXT_PATTERN })),
  }),
})

/** Throws `invalid_input`, naming the field. */
export const readForwarded = (body: string): RemoteCommand => {
  const command = parseJson(body)
  const { input, ...envelope } = Object(command)
  if (typeof input !== 'object') fail('invalid_input', 'input must be an object')
  validate(Envelope, envelope)
  return command as RemoteCommand
}

const parseJson = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return fail('invalid_input', 'the body is not valid JSON')
  }
}
