/** Calls of the agent's operations, for a program that makes many of them. */
import { operations } from '#contract/index'
import type { NamedOp } from '#contract/op'
import { askOf, call, idempotencyKeyFor } from '../call.ts'
import { Failure, misuse } from '../failure.ts'
import type { Host } from '../host.ts'
import { findTarget, type ServerProfile, tokenFor } from '../target.ts'
import { openTransport, type Transport } from '../transport.ts'

type Input = Record<string, unknown>

export interface AgentContext extends Disposable {
  host: Host
  /** Without a trailing slash. */
  url: string
  token: string | undefined
  /** The session of the person at the terminal, if there is one. Only people can decide. */
  person: string | undefined
  /** For streams, because a stream occupies its connection. */
  streams: Transport
  ask<Answer = Input>(id: string, input: Input, as?: 'person'): Promise<Answer>
}

export const operationOf = (id: string): NamedOp => {
  const found = operations.find((one) => one.id === id)
  if (!found) throw new Error(`there is no operation ${id}`)
  return found
}

const personOf = (target: ServerProfile): string | undefined => {
  try {
    return tokenFor({ scope: 'session' }, target, {})
  } catch (cause) {
    if (cause instanceof Failure && cause.code === 'unauthenticated') return undefined
    throw cause
  }
}

/** Uses a key, or the signed-in person if --as-me is given or there is no key. */
export const openAgent = async (options: Input, host: Host): Promise<AgentContext> => {
  if (options.apiKey === '-')
    misuse('this command reads standard input itself', 'pass the key in TENDRIL_API_KEY')
  const target = await findTarget(options, host)
  const person = personOf(target)
  const asMe = options.asMe === true || (target.apiKey === undefined && person !== undefined)
  const token = tokenFor({ scope: 'api:write' }, target, { asMe })
  const [calls, streams] = [
    await openTransport(target.url, host.signal),
    await openTransport(target.url, host.signal),
  ]
  return {
    host,
    url: target.url,
    token,
    person,
    streams,
    async ask(id, input, as) {
      const o = operationOf(id)
      const idempotencyKey = await idempotencyKeyFor(o)
      const { body } = await call(
        calls,
        askOf(o, input, { token: as === 'person' ? person : token, idempotencyKey }),
        host,
      )
      return body as never
    },
    [Symbol.dispose]() {
      calls.close()
      streams.close()
    },
  }
}
