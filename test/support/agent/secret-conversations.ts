/**
 * Conversations about a secret: the secret shows up wherever somebody sees more of them than they
 * may.
 */
import { expect } from 'bun:test'
import { scopes } from '#kernel/scopes'
import { eventually } from '../eventually.ts'
import { scriptedModel } from '../model/scripted-model.ts'
import { useApp } from '../use.ts'

export const SECRET = 'zanzibar'

/**
 * A model whose every answer contains the secret. `SECRET resume` asks a person before it ends the
 * pause, and `SECRET delegate` lets a child do so.
 */
const model = () =>
  scriptedModel((asked, answers) => {
    const last = (asked.messages.findLast(({ role }) => role === 'user') as { text: string }).text
    if (last === `${SECRET} resume` && answers === 0)
      return { calls: [['growth_resume_automation', {}]] }
    if (last === `${SECRET} delegate` && answers === 0)
      return {
        calls: [['delegate', { goal: `${SECRET} resume`, tools: ['growth_resume_automation'] }]],
      }
    return { text: `${SECRET}, I said.` }
  })

/** A Tendril with that model, and calls of its agent by credential. */
export const useSecrets = () => {
  const app = useApp({
    model: model(),
  })
  const send = (by: string, method: string, path: string, body?: unknown) =>
    app.send(method, `/api/v1/agent/${path}`, { key: by, ...(body === undefined ? {} : { body }) })
  /** Says something, and waits until it is answered or a person is asked. */
  const say = async (by: string, content: string, more: object = {}) => {
    const { status, body } = await send(by, 'POST', 'messages', { content, ...more })
    expect(status).toBe(201)
    return eventually(
      async () => (await send(by, 'GET', `jobs/${body.job.id}`)).body,
      ({ job }) =>
        ['completed', 'failed', 'waiting_approval', 'waiting_child'].includes(job.status),
    )
  }
  /** A new key of a person. */
  const keyOf = async (by: string): Promise<string> =>
    (
      await app.send('POST', '/api/v1/app/keys', {
        key: by,
        body: { name: 'mine', scopes: [...scopes] },
      })
    ).body.api_key
  return { app, send, say, keyOf }
}
