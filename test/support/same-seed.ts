/** Seeded alike and told of no earlier posts, two batches differ by what has changed in the workspace. */
import { createComposer } from '#port/model/composer/composer'
import type { Drafter } from '#port/model/drafter'

const composer = createComposer()

export const sameSeed: Drafter = {
  ...composer,
  draft: (brief, signal) => composer.draft({ ...brief, seed: 'same', recent: [] }, signal),
}
