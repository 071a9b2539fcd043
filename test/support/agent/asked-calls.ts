/** Jobs that ask people for calls about drafts, and how two people decide, over HTTP. */
import { beforeEach } from 'bun:test'
import { eventually, type Reply, type TestApp } from '../app.ts'
import { newWorkspace } from '../contract/prepare.ts'
import { insertItem } from '../database/writes.ts'
import { type SignedIn, signedIn } from '../session.ts'
import { asKey, stepsIn, turn } from './agent.ts'
import { planText } from './plan.ts'

export type AskedCall = [tool: string, more?: Record<string, unknown>]

/** A call that a job has asked for. */
export interface Asked {
  id: string
  job: string
  item: string
}

/** What an answer says of a conflict. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export const answered = ({ status, body }: Reply<any>) => [status, body.error?.reason ?? null]

/** A signed-in person, as answers to people name them. */
export const person = ({ personId: id }: SignedIn) => ({ kind: 'person', id, name: 'Test' })

/** In a workspace that each test has for itself, with an owner and an approver. */
export const useAskedCalls = (app: TestApp) => {
  const at = {} as { tenantId: string; ann: SignedIn; bob: SignedIn }
  beforeEach(async () => {
    at.tenantId = (await newWorkspace(app)).tenantId
    at.ann = await signedIn(app, at.tenantId, 'owner')
    at.bob = await signedIn(app, at.tenantId, 'approver')
  })
  const approvalsOf = (job: string) =>
    app.owner<{ id: string }[]>`select a.id from agent_approval a
      join agent_step s on s.id = a.step_id where a.job_id = ${job} order by s.number`
  const askingFor = async (plan: [string, Record<string, unknown>][]): Promise<Asked[]> => {
    const { tenantId } = at
    const by = await asKey(app, tenantId)
    const job = await turn(app, { content: planText([plan]), by, tenantId })
    const rows = await eventually(
      () => approvalsOf(job),
      ({ length }) => length === plan.length,
    )
    return [...rows].map(({ id }, index) => ({ id, job, item: plan[index]![1].id as string }))
  }
  const send = (who: SignedIn, method: string, path: string, body?: object) =>
    app.send(method, path, { key: who.key, ...(body && { body }) })
  return {
    at,
    send,
    askingFor,
    /** A job that asks for these calls, each about a draft of its own or all about one. */
    async asking(calls: AskedCall[], item?: string): Promise<Asked[]> {
      const items: string[] = []
      for (const _ of calls) items.push(item ?? (await insertItem(app, at.tenantId)))
      return askingFor(calls.map(([tool, more]) => [tool, { id: items.shift()!, ...more }]))
    },
    onCall: (who: SignedIn, { id }: Asked, how: 'approve' | 'reject', body: object = {}) =>
      send(who, 'POST', `/api/v1/agent/approvals/${id}/${how}`, body),
    onItem: (who: SignedIn, { item }: Asked, how: string, body?: object) =>
      send(who, 'POST', `items/${item}/${how}`, body),
    read: async ({ id }: Asked) =>
      (await send(at.ann, 'GET', `/api/v1/agent/approvals/${id}`)).body.approval,
    /** The approvals and rejections of its item. */
    decisionsOn: async ({ item }: Asked) =>
      (
        await app.owner`select actor_kind, detail from audit where ref_id = ${item}
          and operation in ('growth.items.approve', 'growth.items.reject') order by id`
      ).map(({ actor_kind, detail }) => ({ actor_kind, detail })),
    /** What its job was told of its calls. */
    resultsOf: async ({ job }: Pick<Asked, 'job'>) =>
      (await stepsIn(app, job)).flatMap(({ kind, result }) =>
        kind === 'tool' ? result!.text : [],
      ),
  }
}
