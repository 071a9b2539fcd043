/** Mistakes with what is done to posts of others. */
import type { Mutant } from './mutant.ts'

export const engagingMutants: Mutant[] = [
  {
    name: 'what may be done already is done again',
    file: 'src/domain/growth/drafting/engagement-moves.ts',
    from: "if (engagement.status === 'execute_unconfirmed')\n    fail(",
    to: "if (engagement.status === 'execute_unconfirmed') return { ...engagement, status: 'executing' }\n  if (!engagement)\n    fail(",
  },
  {
    name: 'what a post shows of one action is taken for another',
    file: 'actors/work/growth/timeline.ts',
    from: 'post.done.includes(action) ?',
    to: 'post.done.length > 0 ?',
  },
  {
    name: 'a post that says nothing of what was done to it counts',
    file: 'actors/work/growth/timeline.ts',
    from: "if (!post.done) return { kind: 'unread', resources: 1 }",
    to: "if (!post.done) return { kind: 'state', made: undefined, resources: 1 }",
  },
  {
    name: 'an execution that a person asked for is dropped',
    file: 'src/domain/growth/sending/engagement.ts',
    from: "origin === 'manual' && status === 'executing'",
    to: 'false',
  },
]
