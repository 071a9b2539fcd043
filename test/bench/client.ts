/** The API of a server, with the key of a workspace. */
import { newId } from '#kernel/ids'
import type { Running } from './spawn.ts'
import type { Tenant } from './world.ts'

export const request = (
  { port }: Pick<Running, 'port'>,
  { key }: Pick<Tenant, 'key'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/api/v1/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': newId(),
    },
    body: body === undefined ? null : JSON.stringify(body),
  })

/** The answer, or an error. */
export const ask = async (
  ...asked: Parameters<typeof request>
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
): Promise<any> => {
  const reply = await request(...asked)
  const [, , method, path] = asked
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`)
  return await reply.json()
}
