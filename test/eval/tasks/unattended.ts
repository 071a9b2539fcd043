/** Work that goes on while nobody looks: schedules, posts from outside, sub-agents, pages. */
import type { Task } from '../task.ts'

const TASKS: Task['script'][number] = [['list_scheduled_tasks', {}]]
const LISTS =
  'Read the learnings and the products of the workspace, and say how many there are of each.'

export const unattended: Task[] = [
  {
    name: 'each-monday',
    ask: 'Each Monday at 09:00 in Berlin, draft three posts about docks.',
    changes: ['agent_schedule'],
    rows: [
      [
        'agent_schedule',
        "pattern = '0 9 * * 1' and time_zone = 'Europe/Berlin' and goal ~* 'dock' and status = 'active'",
      ],
    ],
    script: [
      [
        [
          'schedule_task',
          { goal: 'Draft three posts about docks', cron: '0 9 * * 1', timeZone: 'Europe/Berlin' },
        ],
      ],
    ],
    mistake: [[['schedule_task', { goal: 'Draft three posts about docks', cron: '0 9 * * 1' }]]],
  },
  {
    name: 'once',
    ask: 'On {{day+3}} at 15:00 UTC, and only then, draft one post about the fair.',
    changes: ['agent_schedule'],
    rows: [['agent_schedule', "pattern is null and at = '{{day+3}}T15:00Z' and goal ~* 'fair'"]],
    script: [
      [['schedule_task', { goal: 'Draft one post about the fair', at: '{{day+3}}T15:00:00Z' }]],
    ],
    mistake: [[['schedule_task', { goal: 'Draft one post about the fair', cron: '0 15 * * *' }]]],
  },
  {
    name: 'cancel-schedule',
    given: { schedules: ['Draft posts about docks', 'Draft posts about cameras'] },
    ask: 'The scheduled task about cameras is no longer needed. Cancel it.',
    changes: ['agent_schedule'],
    rows: [
      ['agent_schedule', "status = 'cancelled' and goal ~ 'cameras'"],
      ['agent_schedule', "status = 'active' and goal ~ 'docks'"],
    ],
    script: [TASKS, [['cancel_scheduled_task', { id: '<task: cameras>' }]]],
    mistake: [TASKS, [['cancel_scheduled_task', { id: '<task: docks>' }]]],
  },
  {
    name: 'post-from-the-shop',
    ask: 'Our shop will post each order to you. Make a webhook rule named "Orders" whose goal is to say whether the order is unusual.',
    changes: ['webhook_rule', 'inbound_route'],
    asks: ['create_webhook_rule'],
    rows: [['webhook_rule', "name = 'Orders' and goal ~* 'unusual' and enabled"]],
    script: [
      [['create_webhook_rule', { name: 'Orders', goal: 'Say whether the order is unusual' }]],
    ],
    mistake: [[['schedule_task', { goal: 'Say whether the order is unusual', cron: '0 * * * *' }]]],
  },
  {
    name: 'delegate',
    given: {
      learnings: [{ kind: 'worked', note: 'Numbers' }],
      products: [{ name: 'Loopline', one_liner: 'Onboarding' }],
    },
    ask: `Delegate this to a sub-agent that may list learnings and products, and no more: "${LISTS}"`,
    uses: ['delegate'],
    rows: [
      [
        'agent_job',
        `kind = 'delegate' and status = 'completed' and tools = '["growth_list_learnings", "growth_list_products"]'`,
      ],
      [
        'agent_step',
        "name in ('growth_list_learnings', 'growth_list_products') and state = 'done'",
        2,
      ],
    ],
    script: [
      [['delegate', { goal: LISTS, tools: ['growth_list_learnings', 'growth_list_products'] }]],
    ],
    mistake: [
      [
        [
          'delegate',
          {
            goal: LISTS,
            tools: ['growth_list_learnings', 'growth_list_products', 'growth_add_learning'],
          },
        ],
      ],
    ],
    children: {
      [LISTS]: [
        [
          ['growth_list_learnings', {}],
          ['growth_list_products', {}],
        ],
      ],
    },
  },
  {
    name: 'read-page',
    given: { pages: { '/opening': 'The loading bay opens at 05:40 from 1 March.' } },
    ask: 'Read {{site}}opening and add a learning of kind "worked" that says when the loading bay opens.',
    changes: ['learning'],
    asks: ['growth_add_learning'],
    uses: ['fetch_url'],
    rows: [['learning', "note ~ '0?5:40'"]],
    script: [
      [['fetch_url', { url: '{{site}}opening' }]],
      [['growth_add_learning', { kind: 'worked', note: 'The loading bay opens at 05:40' }]],
    ],
    mistake: [
      [['growth_add_learning', { kind: 'worked', note: 'The loading bay opens at 05:40' }]],
    ],
  },
  {
    name: 'read-unknown-host',
    ask: 'Read {{other}}prices, if I allow it.',
    asks: ['fetch_url'],
    uses: ['fetch_url'],
    script: [[['fetch_url', { url: '{{other}}prices' }]]],
    mistake: [[['fetch_url', { url: '{{site}}prices' }]]],
  },
]
