/** What a person who is signed in asks for. No door of the server lets one in yet, so operations are called as the doors call them. */
import { scopes } from '#kernel/scopes'
import type { Call } from '#ops/call'
import { createOperations } from '#ops/index'
import type { TestApp } from './app.ts'

export interface PersonsAnswer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any
  replayed?: boolean
}

/** Runs an operation by its id, `growth.items.postNow`, as a person of the workspace. Rejects with the `AppError`. */
export const asPerson =
  ({ workplace }: Pick<TestApp, 'workplace'>, tenantId: string) =>
  async (id: string, input: unknown, more: Partial<Call> = {}): Promise<PersonsAnswer> => {
    const operation = createOperations(workplace.world).find((one) => one.id === id)!
    const principal = { kind: 'session', id: 'person' } as const
    const call: Call = {
      tenantId,
      principal,
      scopes: new Set([...scopes, 'session' as const]),
      role: 'owner',
      surface: 'rest',
      requestId: 'test',
      ...more,
    }
    const { body, ...answer } = await operation.run(() => input, call)
    return { ...answer, body: JSON.parse(body) }
  }
