/** Mistakes with what is done to posts of others. */
import { type Mutant, mutantsOf } from './mutant.ts'

export const engagingMutants: Mutant[] = [
  ...mutantsOf('src/domain/growth/drafting/engagement-states.ts', [
    [
      'what may be done already is done again',
      "from: ['approved', 'execute_failed'], to: 'executing'",
      "from: ['approved', 'execute_failed', 'execute_unconfirmed', 'execute_unconfirmed (in review)'], to: 'executing'",
    ],
  ]),
  ...mutantsOf('actors/work/growth/timeline.ts', [
    [
      'what a post shows of one action is taken for another',
      'post.done.includes(action) ? $made : undefined',
      'post.done.length > 0 ? $made : undefined',
    ],
    [
      'a post that says nothing of what was done to it counts',
      "if (!post.done) return { kind: 'unread', resources: 1 }",
      "if (!post.done) return { kind: 'state', made: undefined, resources: 1 }",
    ],
  ]),
  ...mutantsOf('src/domain/growth/sending/engagement.ts', [
    [
      'an execution that a person asked for is dropped',
      "origin === 'manual' && status === 'executing'",
      'false',
    ],
  ]),
]
