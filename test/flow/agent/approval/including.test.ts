/** A call of the agent that does what two operations do is guarded like each of them. */
import { describe, expect, test } from 'bun:test'
import { overJob, turn, waitingJob } from '#test/support/agent/agent'
import { plannedModel, planText } from '#test/support/agent/plan'
import { draftedEngagement, engagementOf } from '#test/support/growth/engagements'
import { newStory } from '#test/support/growth/story'
import { resultsIn } from '#test/support/model/scripted-model'
import { tokenOf } from '#test/support/session'
import { useApp } from '#test/support/use'

const model = plannedModel()
const app = useApp({ overrides: { thinker: model } })

describe('a call that approves an engagement and sends it', () => {
  const asked = async (tools?: string[]) => {
    const story = await newStory(app)
    const { id } = await draftedEngagement(app, story)
    const key = await app.newKey(['api:read', 'api:write', 'workspace:use'], story.tenantId)
    const begin = () =>
      turn(app, {
        content: planText([[['growth_approve_engagement', { id, execute: true }]]]),
        by: { kind: 'key', id: key.id, personId: null },
        tenantId: story.tenantId,
        ...(tools ? { tools } : {}),
      })
    return { story, id, begin }
  }

  test('is asked of a person, who is told that it sends; then it is sent', async () => {
    const { story, id, begin } = await asked()
    const job = await begin()
    await waitingJob(app, job)
    const [approval] = await app.owner<
      { id: string; summary: string; why: string[] }[]
    >`select a.id, a.summary, s.why from agent_approval a join agent_step s on s.id = a.step_id
      where a.job_id = ${job}`
    expect(approval!.summary).toMatch(
      /^Approve the reply “We call first” to a post by “.*” and send it now from @\S+$/,
    )
    expect(approval!.why).toEqual(['publishes'])
    const key = await tokenOf(app, story.tenantId)
    await app.send('POST', `/api/v1/agent/approvals/${approval!.id}/approve`, { key })
    expect(await overJob(app, job)).toMatchObject({ status: 'completed', tool_calls: 1 })
    expect(await engagementOf(story, id)).toMatchObject({ status: 'executed' })
    expect(resultsIn(model.turns.at(-1)!)[0]).toContain('executed')
  })

  test('needs the tool that sends as well, and no rule against it', async () => {
    const without = await asked(['growth_approve_engagement'])
    const denied = await asked()
    const key = await tokenOf(app, denied.story.tenantId)
    await app.send('PUT', '/api/v1/agent/tool-rules/growth_execute_engagement', {
      key,
      body: { decision: 'deny' },
    })
    for (const { story, id, begin } of [without, denied]) {
      const job = await begin()
      await overJob(app, job)
      expect(resultsIn(model.turns.at(-1)!)).toEqual([
        'error: execute needs the tool growth_execute_engagement, which this job does not have',
      ])
      expect(await engagementOf(story, id)).toMatchObject({ status: 'drafted' })
    }
  })
})
