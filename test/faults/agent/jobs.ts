/** What people ask the agent for: jobs with every kind of tool. */
import { OUTSIDE } from '#test/support/agent/outside-tool'
import { type Plan, planText } from '#test/support/agent/plan'

interface Wanted {
  /** Unique to the job. */
  id: string
  tenantId: string
  /** A post of somebody else, by its id. */
  post: string
}

/** Each text names its workspace, so that a text that shows up in another is noticed. */
const learning = ({ id, tenantId }: Wanted, n: number): Plan[number][number] => [
  'growth_add_learning',
  { kind: 'worked', note: `note ${n} of ${id} in ${tenantId}` },
]

/**
 * Commands and reads in one answer. The note is retired again, because a workspace holds only a few
 * active learnings.
 */
const notes = (wanted: Wanted): Plan => [
  [
    learning(wanted, 1),
    learning(wanted, 2),
    ['growth_list_learnings', {}],
    ['growth_overview', {}],
  ],
  [
    ['growth_retire_learning', { id: 'learning:1' }],
    ['growth_retire_learning', { id: 'learning:2' }],
  ],
]
const outside = (wanted: Wanted): Plan => [
  [
    [OUTSIDE, { text: `first of ${wanted.id}` }],
    [OUTSIDE, { text: `second of ${wanted.id}` }],
  ],
  [['get_current_time', {}]],
]
/** A generation, then two calls that a person must allow; the second one waits for the network. */
const post = (): Plan => [
  [['growth_create_batch', { count: 1 }]],
  [['growth_approve_item', { id: 'item:1' }]],
  [['growth_post_item', { id: 'item:1' }]],
]
/** Reads the network first. What it reads is untrusted, so the note after it must be approved. */
const engagement = (wanted: Wanted): Plan => [
  [['growth_create_engagement', { post: wanted.post, action: 'reply' }]],
  [learning(wanted, 1)],
  [['growth_retire_learning', { id: 'learning:1' }]],
]
const urgent = (): Plan => [
  [
    ['growth_pause_automation', {}],
    ['growth_list_queue', {}],
  ],
  [['growth_resume_automation', {}]],
]

/** A part for a sub-agent, with the tools of its plan and some that its parent may not have. */
const part = (plan: Plan): Plan[number][number] => [
  'delegate',
  {
    goal: planText(plan),
    tools: [...new Set([...toolsOf(plan), 'growth_create_batch', 'growth_pause_automation'])],
  },
]
/** The last one to see it retires it, because a sub-agent may be cancelled before it does so. */
const retireBoth: Plan[number] = [
  ['growth_retire_learning', { id: 'learning:1' }],
  ['growth_retire_learning', { id: 'learning:2' }],
]
/**
 * Two sub-agents from one answer. The second has a sub-agent of its own, and writes outside when
 * that is over.
 */
const family = (wanted: Wanted): Plan => {
  const first: Plan = [
    [[OUTSIDE, { text: `of the first child of ${wanted.id}` }]],
    [['growth_overview', {}]],
  ]
  const deepest: Plan = [[learning(wanted, 1)], [['growth_retire_learning', { id: 'learning:1' }]]]
  const second: Plan = [
    [part(deepest)],
    [
      [OUTSIDE, { text: `of the second child of ${wanted.id}` }],
      ['growth_list_learnings', {}],
    ],
  ]
  return [[part(first), part(second)], [learning(wanted, 2)], retireBoth]
}
/** What a sub-agent reads is untrusted, so its own note must be approved, and its parent's too. */
const tainted = (wanted: Wanted): Plan => [
  [
    part([
      [['growth_create_engagement', { post: wanted.post, action: 'reply' }]],
      [learning(wanted, 1)],
    ]),
  ],
  [learning(wanted, 2)],
  retireBoth,
]

const kinds = [
  notes,
  family,
  outside,
  post,
  tainted,
  notes,
  engagement,
  family,
  outside,
  urgent,
] as const

export const planOf = (nth: number, wanted: Wanted): Plan => kinds[nth % kinds.length]!(wanted)

/** The notes of its calls, and of everything that it delegates. */
export const toolsOf = (plan: Plan): string[] => [
  ...new Set(
    plan
      .flat()
      .flatMap(([name, { goal }]) => [
        name,
        ...(name === 'delegate' ? toolsOf(JSON.parse(goal as string)) : []),
      ]),
  ),
]

const AT_ONCE = 4

/** For a loop that repeats commands, and nothing else. */
export const notesOnly = (wanted: Wanted): Plan => [
  Array.from({ length: AT_ONCE }, (_, n) => learning(wanted, n)),
  Array.from({ length: AT_ONCE }, (_, n) => [
    'growth_retire_learning',
    { id: `learning:${n + 1}` },
  ]),
]
