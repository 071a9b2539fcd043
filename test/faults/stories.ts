/** Workspaces for a load on posts and engagements. */
import type postgres from 'postgres'
import { type TestApp, testApp } from '#test/support/app'
import { newStory, type Story } from '#test/support/growth/story'
import type { Deployment } from '#test/support/processes/server'

interface Wanted {
  count: number
  limits: Record<string, number>
  /** Makes one of them; by default, with an account of the sandbox. */
  make?: (app: TestApp) => Promise<Story>
}

/** Makes workspaces with a connected account and these limits. */
export const makeStories = async (
  app: TestApp,
  owner: postgres.Sql,
  { count, limits, make = newStory }: Wanted,
): Promise<Story[]> => {
  const stories: Story[] = []
  while (stories.length < count) stories.push((await make(app)).at({ owner, send: app.send }))
  await owner`update tenant set overrides = ${owner.json(limits)}`
  return stories
}

/** The same by an app that starts no work: that is left to the servers. */
export const newStories = async (
  { owner, server }: Deployment,
  count: number,
  limits: Record<string, number>,
): Promise<Story[]> => {
  await using app = await testApp({ database: server.database!, overrides: { sweepMs: 0 } })
  return await makeStories(app, owner, { count, limits })
}

/** Agents of all workspaces may use what they want; and these other limits hold. */
export const unlimitAgents = async (
  owner: postgres.Sql,
  others: Record<string, number> = {},
): Promise<void> => {
  const keys = ['agent_tokens_day', 'agent_tokens_month', 'agent_cost_month', 'agent_calls_hour']
  const limits = { ...Object.fromEntries(keys.map((key) => [key, -1])), ...others }
  await owner`update tenant set overrides = overrides || ${owner.json(limits)}`
}
