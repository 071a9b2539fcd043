/**
 * The agent's capabilities as tools. Each call becomes a call of the operation that calls
 * capabilities by name.
 */
import { capabilities } from '#contract/index'
import type { NamedOp } from '#contract/op'
import { fail } from '#kernel/errors'
import type { Operation } from '#ops/engine/bind'

export const CALL = 'agent.actions.call'

/** The result of a call without what surrounds it. Includes the job while the call is not done. */
const unwrapAnswer = (body: string): string => {
  const { result, job } = JSON.parse(body)
  return JSON.stringify(job ? { job } : result)
}

/** A call requires what that operation requires, whatever the capability itself does. */
const toolOf = (o: NamedOp, call: Operation): Operation => {
  const run: Operation['run'] = async (read, by) => {
    const answer = await call.run(async () => ({ name: o.tool, arguments: await read() }), by)
    return { ...answer, body: unwrapAnswer(answer.body) }
  }
  return {
    ...o,
    kind: call.kind,
    scope: call.scope,
    also: call.also,
    settles: undefined,
    run,
  } as unknown as Operation
}

/** The operations, with a tool added for each capability. */
export const withCapabilities = (all: readonly Operation[]): Operation[] => {
  const call =
    all.find(({ id }) => id === CALL) ?? fail('internal', `there is no operation ${CALL}`)
  return [...all, ...capabilities.map((o) => toolOf(o, call))]
}

const ids = new Set(capabilities.map(({ id }) => id))

export const isCapability = ({ id }: Pick<NamedOp, 'id'>): boolean => ids.has(id)
