/**
 * Receives commands from other processes of this deployment, for tenants that this process owns.
 */
import { AppError, fail } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { inTrace } from '#kernel/trace'
import type { Operation } from '#ops/engine/bind'
import type { Call } from '#ops/engine/call'
import type { NodeSignature, RemoteCommand, RemoteReply } from '#port/nodes'
import { OwnedElsewhere } from '#store/engine/placement'
import { readForwarded } from './forwarded-command.ts'
import type { Incoming } from './incoming.ts'

/**
 * A forwarded letter holds the caller and the input, which is escaped once more. It may therefore
 * be larger than the original body.
 */
const LETTER_FACTOR = 4

export interface LetterDeps {
  operations: Operation[]
  signature: NodeSignature
  /** Whether this process may answer for the workspaces that it owns. */
  serving(): boolean
  log: Log
}

/**
 * Answers 404, as for any unknown path, if the sender does not have the deployment's key. It does
 * so before reading the body. Answers 400 if the letter is malformed.
 */
export const receiveLetter = ({ operations, signature, serving, log }: LetterDeps) => {
  const byId = new Map(operations.map((o) => [o.id, o]))
  return async (incoming: Incoming): Promise<Response> => {
    const seal = signature.sealOf(incoming.request.headers) ?? fail('not_found', 'no such path')
    const o = byId.get(seal.operation) ?? fail('not_found', 'no such operation')
    const body = await incoming.text({
      limit: o.bodyLimit * LETTER_FACTOR,
      workspace: seal.workspace,
    })
    if (!seal.fits(body)) fail('not_found', 'no such path')
    const command = readForwarded(body)
    return Response.json(await reply(o, command, { serving, log }))
  }
}

const reply = async (
  o: Operation,
  { input, call }: RemoteCommand,
  { serving, log }: Pick<LetterDeps, 'serving' | 'log'>,
): Promise<RemoteReply> => {
  const run = () =>
    o.run(() => input, { ...call, scopes: new Set(call.scopes), forwarded: true } as Call)
  try {
    return {
      answer: await (call.trace === undefined ? run() : inTrace(call.trace, run)),
    }
  } catch (cause) {
    if (cause instanceof OwnedElsewhere) return { elsewhere: true }
    // Sent instead of a 503, because another process is about to take over and can answer.
    if (cause instanceof AppError && cause.code === 'unavailable' && !serving())
      return { elsewhere: true }
    const error = AppError.from(cause)
    if (error.code === 'internal')
      log.error(
        {
          err: error.cause ?? error,
          operation: o.id,
          request_id: call.requestId,
          workspace: call.tenantId,
        },
        'a forwarded command failed',
      )
    return { error: error.parts }
  }
}
