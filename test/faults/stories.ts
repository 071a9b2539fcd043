/** Workspaces for a load on posts and engagements. */
import { testApp } from '#test/support/app'
import { type Story, storyAt } from '#test/support/growth/story'
import type { Deployment } from '#test/support/processes/server'

/**
 * Workspaces with a connected account and these limits, made by an app that starts no work: that is
 * left to the servers.
 */
export const newStories = async (
  { owner, server }: Deployment,
  count: number,
  limits: Record<string, number>,
): Promise<Story[]> => {
  await using app = await testApp({ database: server.database!, overrides: { sweepMs: 0 } })
  const stories: Story[] = []
  while (stories.length < count) {
    const { tenantId, key } = await app.newWorkspace()
    const [row] = await owner<
      { external_id: string }[]
    >`select external_id from connection where tenant_id = ${tenantId}`
    stories.push(storyAt({ owner, send: app.send }, { tenantId, key, account: row!.external_id }))
  }
  await owner`update tenant set overrides = ${owner.json(limits)}`
  return stories
}
