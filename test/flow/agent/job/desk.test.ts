/** Without a model the desk answers: the main job, by commands in the words of the command line. */
import { expect, test } from 'bun:test'
import type { Job, OnBehalf } from '#domain/agent/job/job'
import { messagesIn, overJob, turn } from '#test/support/agent/agent'
import { softwareProfile } from '#test/support/growth/profiles'
import { newPerson } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const says = async (by: OnBehalf, content: string): Promise<{ job: Job; answer: string }> => {
  const job = await overJob(app, await turn(app, { content, by, model: 'desk' }))
  return { job, answer: (await messagesIn(app, job)).at(-1)!.content }
}

test('drafts, and says what it cannot do', async () => {
  await app.send('PUT', 'profile', { body: softwareProfile })
  const { personId } = (await newPerson(app.owner, app.tenantId, 'owner')).member
  const by: OnBehalf = { kind: 'session', id: personId, personId }
  const drafted = await says(by, '/batches create --count 2')
  expect(drafted.job).toMatchObject({
    status: 'completed',
    model: 'desk',
    cost: 0,
    input_tokens: 0,
  })
  expect(drafted.answer).toContain('item:2')
  expect((await says(by, 'what is waiting?')).answer).toContain('item:1')
  expect((await says(by, 'please make everything better')).answer).toContain('No model is set')
  const { job, answer } = await says(by, '/batches create --cuont 2')
  expect(job.tool_calls).toBe(0)
  expect(answer).toContain('cuont')
})

test('a job that began with a model ends honestly where none is set any more', async () => {
  const { id } = await app.newKey(['api:read', 'workspace:use'])
  const job = await overJob(
    app,
    await turn(app, { content: 'hello', by: { kind: 'key', id, personId: null }, model: 'gpt-5' }),
  )
  expect(job).toMatchObject({ status: 'failed', error: 'model_required' })
  expect(await messagesIn(app, job)).toContainEqual({
    role: 'notice',
    content: 'No language model is set.',
  })
})
