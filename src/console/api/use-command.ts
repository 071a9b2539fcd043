/** A command of a form or a button: whether it runs, and why it failed. */
import { useState } from 'react'
import { ApiError } from './errors.ts'
import type { AnswerOf, InputOf, OperationId } from './operations.ts'
import { command } from './queries.ts'

export interface CommandUse<Id extends OperationId> {
  isRunning: boolean
  /** Of the last call; undefined since it succeeded, or was begun anew. */
  cause: unknown
  /** Resolves with undefined if it failed. The answer, which may be a secret, is kept nowhere. */
  run(input: InputOf<Id>): Promise<AnswerOf<Id> | undefined>
  forget(): void
}

export const useCommand = <Id extends OperationId>(id: Id): CommandUse<Id> => {
  const [state, setState] = useState<{ isRunning: boolean; cause?: unknown }>({ isRunning: false })
  return {
    isRunning: state.isRunning,
    cause: state.cause,
    forget: () => setState({ isRunning: false }),
    async run(input) {
      setState({ isRunning: true })
      try {
        const answer = await command(id, input)
        setState({ isRunning: false })
        return answer
      } catch (cause) {
        setState({ isRunning: false, cause })
        return undefined
      }
    },
  }
}

/** What is wrong with one field of the input, as the server says it. */
export const faultOf = (cause: unknown, field: string): string | undefined =>
  cause instanceof ApiError
    ? cause.refusal.details?.find(({ path }) => path.split(/[./]/).includes(field))?.message
    : undefined
