/**
 * Shared by the tests of the agent's surfaces: workspaces whose jobs nobody runs, so that each
 * state stays as it was made.
 */
import type { Role } from '#kernel/roles'
import { scopes } from '#kernel/scopes'
import type { Reply, TestApp } from '#test/support/app'
import { tokenOf } from '#test/support/session'

export interface Surface {
  app: TestApp
  tenantId: string
  key: string
  /** `send('POST', 'conversations', { title })`, below /api/v1/agent/. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  send(method: string, path: string, body?: unknown, key?: string): Promise<Reply<any>>
  as(role: Role): Promise<string>
  /** Makes a conversation with one message, and returns their ids. */
  asked(content?: string): Promise<{ conversation: string; job: string; message: string }>
}

export const newSurface = async (app: TestApp): Promise<Surface> => {
  const { tenantId } = await app.newWorkspace()
  const { api_key: key } = await app.newKey([...scopes], tenantId)
  const send: Surface['send'] = (method, path, body, by = key) =>
    app.send(method, `/api/v1/agent/${path}`, { key: by, ...(body === undefined ? {} : { body }) })
  return {
    app,
    tenantId,
    key,
    send,
    as: (role) => tokenOf(app, tenantId, role),
    async asked(content = 'What is late?') {
      const { body } = await send('POST', 'conversations', {})
      const conversation = body.conversation.id
      const sent = await send('POST', `conversations/${conversation}/messages`, { content })
      return { conversation, job: sent.body.job.id, message: sent.body.message.id }
    },
  }
}
