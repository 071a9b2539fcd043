/**
 * Other people's posts. What they write is untrusted, so that what follows is asked of a person.
 */
import type { Task } from '../task.ts'

const signals = [
  'What do you do about late deliveries?',
  'Is there a good camera for loading bays?',
]
const SIGNALS: Task['script'][number] = [['growth_list_signals', { status: 'open' }]]
const TARGETS: Task['script'][number] = [['growth_list_targets', {}]]

export const engaging: Task[] = [
  {
    name: 'signals-read',
    given: { signals },
    ask: 'Has anybody asked something that we could answer? Do nothing yet.',
    uses: ['growth_list_signals', 'growth_get_brief'],
    script: [SIGNALS],
    mistake: [SIGNALS, [['growth_dismiss_signal', { id: '<signal: camera>' }]]],
  },
  {
    name: 'draft-reply',
    given: { profile: true, signals },
    ask: 'Somebody asked about late deliveries. Draft this reply, and do not send it: "We call first."',
    changes: ['engagement', 'signal'],
    asks: ['growth_engage_signal'],
    rows: [
      [
        'engagement',
        "action = 'reply' and status = 'drafted' and body = 'We call first.' and post_text ~ 'late deliveries'",
      ],
    ],
    script: [
      SIGNALS,
      [
        [
          'growth_engage_signal',
          { id: '<signal: late deliveries>', action: 'reply', body: 'We call first.' },
        ],
      ],
    ],
    mistake: [
      SIGNALS,
      [
        [
          'growth_engage_signal',
          { id: '<signal: camera>', action: 'reply', body: 'We call first.' },
        ],
      ],
    ],
  },
  {
    name: 'dismiss-signal',
    given: { signals },
    ask: 'The question about cameras is not for us. Dismiss that signal.',
    changes: ['signal'],
    asks: ['growth_dismiss_signal'],
    rows: [
      ['signal', "status = 'dismissed' and post_text ~ 'camera'"],
      ['signal', "status = 'open'"],
    ],
    script: [SIGNALS, [['growth_dismiss_signal', { id: '<signal: camera>' }]]],
    mistake: [SIGNALS, [['growth_dismiss_signal', { id: '<signal: late deliveries>' }]]],
  },
  {
    name: 'watch-account',
    ask: 'Watch the account @ships_on_tuesday from now on, with the highest priority, which is 3.',
    // The sandbox has an account of that name, whose posts are read at once.
    changes: ['target', 'signal'],
    rows: [['target', "handle = 'ships_on_tuesday' and priority = 3 and status = 'active'"]],
    script: [[['growth_add_target', { handle: 'ships_on_tuesday', priority: 3 }]]],
    mistake: [[['growth_add_target', { handle: 'ships_on_tuesday' }]]],
  },
  {
    name: 'unwatch-account',
    given: { targets: ['parcel_papers', 'dock_diaries'] },
    ask: 'Stop watching dock_diaries for now; keep it in the list.',
    changes: ['target'],
    asks: ['growth_update_target'],
    rows: [
      ['target', "handle = 'dock_diaries' and status = 'paused'"],
      ['target', "handle = 'parcel_papers' and status = 'active'"],
    ],
    script: [
      TARGETS,
      [['growth_update_target', { id: '<target: dock_diaries>', status: 'paused' }]],
    ],
    mistake: [
      TARGETS,
      [['growth_update_target', { id: '<target: parcel_papers>', status: 'paused' }]],
    ],
  },
]
