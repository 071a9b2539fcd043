/**
 * Items whose post may already be on the network, and people who confirm that they are posted
 * again.
 */
import { eventually, type TestApp } from '../app.ts'
import { endLeaseAtIntent } from '../database/writes.ts'
import { asPerson } from '../session.ts'
import type { Story } from './story.ts'
import { type Loss, lostRequest, type Unreliable } from './unreliable.ts'

/**
 * Puts an approved item into review, whatever became of its post; the lease of its attempt is over.
 */
export const putInReview = async (
  app: TestApp,
  story: Story,
  { network, id, how = lostRequest }: { network: Unreliable; id: string; how?: Loss },
) => {
  const { body } = await story.item(id)
  network.answers.set(body, how)
  void story.send('POST', `items/${id}/post-now`)
  await eventually(
    () => story.item(id),
    ({ review }) => review,
  )
  await endLeaseAtIntent(app, id)
}

export const postAgain = (app: TestApp, { tenantId }: Story, id: string, idempotencyKey?: string) =>
  asPerson(app, tenantId)('growth.items.postNow', { id, confirm: 'post_again' }, { idempotencyKey })

export const refusal = (pending: Promise<unknown>): Promise<string> =>
  pending.then(
    () => 'accepted',
    ({ code, message }) => `${code} ${message}`,
  )
