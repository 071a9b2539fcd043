/**
 * With one seed and no earlier posts, two batches differ only by what has changed in the workspace.
 */
import { createComposer } from '#port/model/composer/composer'
import type { Drafter } from '#port/model/drafter'
import { inlineWorker } from '#test/support/model/inline-worker'

const composer = createComposer(inlineWorker)

export const sameSeed: Drafter = {
  ...composer,
  draft: (brief, signal) => composer.draft({ ...brief, seed: 'same', recent: [] }, signal),
}
