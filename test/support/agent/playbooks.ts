/** Playbooks in tests: a workspace, one of its editors, and an agent that does what a test says. */
import type { VersionAuthor } from '#domain/agent/knowledge/playbook'
import type { TestApp } from '../app.ts'
import { resultsIn, scriptedModel } from '../model/scripted-model.ts'
import { signedIn } from '../session.ts'
import { messagesIn, overJob, turn } from './agent.ts'
import { makeDraft } from './records.ts'
import { newSurface } from './surface.ts'

type Script = Parameters<typeof scriptedModel>[0]

export const LAUNCH = {
  slug: 'launch-posts',
  name: 'Launch posts',
  content: 'Mention the price in the first line.',
}

/** For `useApp({ overrides: { thinker } })`. */
export const playbookModel = () => {
  const script: { answer: Script } = { answer: () => ({ text: 'Done.' }) }
  return { script, thinker: scriptedModel((asked, answers) => script.answer(asked, answers)) }
}

export const playbookStory = async (
  app: TestApp,
  { script, thinker }: ReturnType<typeof playbookModel>,
) => {
  const surface = await newSurface(app)
  const { send, tenantId } = surface
  const person = await signedIn(app, tenantId, 'editor')
  const by = { kind: 'session', id: person.sessionId, personId: person.personId } as const
  const create = async (body: object = {}, key?: string) =>
    send('POST', 'playbooks', { ...LAUNCH, ...body }, key)
  const made = async (body: object = {}) => (await create(body)).body.playbook
  const show = async (id: string) => (await send('GET', `playbooks/${id}`)).body
  const statesOf = async (id: string) =>
    (await show(id)).versions.map(({ number, state }: { number: number; state: string }) => [
      number,
      state,
    ])
  const decide = (id: string, versionId: string, what: 'activate' | 'reject', key?: string) =>
    send('POST', `playbooks/${id}/versions/${versionId}/${what}`, undefined, key)
  const draft = async (id: string, content = 'Never mention the price.', author?: VersionAuthor) =>
    author
      ? makeDraft(surface, { playbook_id: id, content, author })
      : (await send('POST', `playbooks/${id}/versions`, { content })).body.version
  const says = async (answer: Script) => {
    script.answer = answer
    const job = await overJob(app, await turn(app, { content: 'go', by, tenantId }))
    return {
      job,
      answer: (await messagesIn(app, job)).at(-1)!.content,
      system: thinker.turns.at(-1)!.system,
    }
  }
  const calls = (name: string, args: object) =>
    says((asked, answers) =>
      answers === 0 ? { calls: [[name, args]] } : { text: resultsIn(asked).join('\n') },
    )
  return { ...surface, person, by, create, made, show, statesOf, decide, draft, says, calls }
}
