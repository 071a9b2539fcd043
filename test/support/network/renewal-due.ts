/** Renewals of accounts whose time a test brings forward. */
import { makeDue } from '../database/writes.ts'
import { wake } from '../growth/returned.ts'
import type { BlueskyApp, BlueskyStory } from './bluesky-app.ts'

/** The account's credentials are renewed now, even if that failed a moment ago. */
export const renewNow = async (
  { app }: Pick<BlueskyApp, 'app'>,
  { story, row }: Pick<BlueskyStory, 'story' | 'row'>,
): Promise<void> => {
  const { id } = await row()
  await app.owner`update work set payload = payload - 'rests_until'
    where tenant_id = ${story.tenantId} and kind = 'renewal'`
  await makeDue(app, String(id), { kind: 'renewal' })
  await wake(story)
}
