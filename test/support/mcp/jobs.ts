/** Jobs of the agent that call tools of an MCP server, in a workspace with its administrator. */
import { jobOf, overJob, stepsIn, turn } from '../agent/agent.ts'
import { type Plan, planText } from '../agent/plan.ts'
import type { TestApp } from '../app.ts'
import { eventually } from '../eventually.ts'
import { serverAdmin } from './servers.ts'

/** The only tool of the usual server. */
export const SEARCHES = 'shop__search'
export const searching = (query: string): Plan[number][number] => [SEARCHES, { query }]

export const mcpJobs = async (app: TestApp) => {
  const { tenantId } = await app.newWorkspace()
  const admin = await serverAdmin(app, tenantId)
  const { id } = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
  const ask = (plan: Plan, more: { tools?: string[] } = {}) =>
    turn(app, {
      content: planText(plan),
      by: { kind: 'key', id, personId: null },
      tenantId,
      ...more,
    })
  const ended = async (plan: Plan, more: { tools?: string[] } = {}) => {
    const job = await ask(plan, more)
    return {
      job: await overJob(app, job),
      steps: (await stepsIn(app, job)).filter(({ kind }) => kind === 'tool'),
    }
  }
  const asked = async (job: string) => {
    await eventually(
      () => jobOf(app, job),
      ({ status }) => status === 'waiting_approval',
    )
    const { body } = await admin.send('GET', 'agent/approvals?status=pending')
    return body.approvals.find(({ job_id }: { job_id: string }) => job_id === job)
  }
  const approve = (id: string, body: object = {}) =>
    admin.send('POST', `agent/approvals/${id}/approve`, body)
  return { ...admin, tenantId, ask, ended, asked, approve }
}
