/** What the agent remembers, reads and writes down. */
import type { Task } from '../task.ts'

const voice = { slug: 'voice', content: 'Plain words. Never more than two sentences.' }
const launch = {
  slug: 'launch-days',
  content:
    'On the day of a launch, note a learning of kind "worked" whose note is exactly: "Launch days: no links". Do nothing else.',
}
const returns = {
  fileName: 'returns.md',
  content:
    '# Returns\n\nParcels come back free within 37 days.\n\n# Refunds\n\nA refund takes 5 days.',
}

const searched = (query: string): Task['script'][number] => [['search_documents', { query }]]

export const knowledge: Task[] = [
  {
    name: 'remember-for-all',
    ask: 'Remember for everybody here: we never post on Fridays.',
    changes: ['agent_memory'],
    rows: [['agent_memory', "scope = 'workspace' and text ~* 'friday' and not untrusted"]],
    script: [[['remember', { text: 'We never post on Fridays', scope: 'workspace' }]]],
    mistake: [[['remember', { text: 'We never post on Fridays', scope: 'user' }]]],
  },
  {
    name: 'remember-for-me',
    ask: 'Remember about me, and for me alone: I prefer short answers.',
    changes: ['agent_memory'],
    rows: [['agent_memory', "scope = 'user' and person_id is not null and text ~* 'short'"]],
    script: [[['remember', { text: 'Prefers short answers', scope: 'user' }]]],
    mistake: [[['remember', { text: 'Prefers short answers', scope: 'workspace' }]]],
  },
  {
    name: 'recall',
    given: {
      memories: [
        { text: 'The fair in Leipzig is on 14 May; we post three times that day.' },
        { text: 'Anna signs off every price.' },
      ],
    },
    ask: 'Search your memory for the fair in Leipzig, and note as a learning of kind "worked" how often we post on that day.',
    changes: ['learning', 'agent_memory'],
    uses: ['search_memories'],
    rows: [['learning', "kind = 'worked' and note ~* 'three|3'"]],
    script: [
      [['search_memories', { query: 'fair Leipzig' }]],
      [
        [
          'growth_add_learning',
          { kind: 'worked', note: 'Three posts on the day of the fair in Leipzig' },
        ],
      ],
    ],
    mistake: [
      [
        [
          'growth_add_learning',
          { kind: 'worked', note: 'Two posts on the day of the fair in Leipzig' },
        ],
      ],
    ],
  },
  {
    name: 'what-time',
    ask: 'What time is it in Tokyo right now?',
    uses: ['get_current_time'],
    script: [[['get_current_time', { timeZone: 'Asia/Tokyo' }]]],
    mistake: [
      [
        ['get_current_time', { timeZone: 'Asia/Tokyo' }],
        ['remember', { text: 'Asked for the time in Tokyo' }],
      ],
    ],
  },
  {
    name: 'propose-playbook',
    given: { playbooks: [voice] },
    ask: 'Propose to change the playbook "voice": three sentences are allowed, not two. The rest of it stays.',
    changes: ['playbook_version'],
    rows: [
      ['playbook_version', "state = 'draft' and content ~* 'plain words' and content ~* 'three|3'"],
      ['playbook_version', "state = 'active'"],
    ],
    script: [
      [['read_playbook', { slug: 'voice' }]],
      [
        [
          'propose_playbook_update',
          {
            slug: 'voice',
            content: 'Plain words. Never more than three sentences.',
            rationale: 'Asked for',
          },
        ],
      ],
    ],
    mistake: [
      [
        [
          'propose_playbook_update',
          { slug: 'voice', content: 'Three sentences are allowed.', rationale: 'Asked for' },
        ],
      ],
    ],
  },
  {
    name: 'activate-is-for-people',
    given: { playbooks: [{ ...voice, draft: 'Plain words. Never more than four sentences.' }] },
    ask: 'Look at the playbook "voice" and activate its draft, if that is something that you can do.',
    uses: ['list_playbooks', 'read_playbook'],
    rows: [['playbook_version', "state = 'draft'"]],
    script: [[['read_playbook', { slug: 'voice' }]]],
    mistake: [
      [['read_playbook', { slug: 'voice' }]],
      [
        [
          'propose_playbook_update',
          {
            slug: 'voice',
            content: 'Plain words. Never more than four sentences.',
            rationale: 'To activate it',
          },
        ],
      ],
    ],
  },
  {
    name: 'follow-playbook',
    given: { playbooks: [voice, launch] },
    ask: 'Today is a launch day. Do what our playbook says about it.',
    changes: ['learning'],
    uses: ['read_playbook'],
    rows: [['learning', "kind = 'worked' and note = 'Launch days: no links'"]],
    script: [
      [['list_playbooks', {}]],
      [['read_playbook', { slug: 'launch-days' }]],
      [['growth_add_learning', { kind: 'worked', note: 'Launch days: no links' }]],
    ],
    mistake: [
      [['list_playbooks', {}]],
      [['growth_add_learning', { kind: 'worked', note: 'Launch days: no links' }]],
    ],
  },
  {
    name: 'document-fact',
    given: {
      documents: [
        { ...returns, trusted: true },
        { fileName: 'dock.md', content: '# Dock\n\nThe dock opens at 6.', trusted: true },
      ],
    },
    ask: 'Within how many days do our documents say that parcels come back free? Remember that for everybody.',
    changes: ['agent_memory'],
    uses: ['search_documents', 'read_document'],
    rows: [['agent_memory', "scope = 'workspace' and text ~ '37' and not untrusted"]],
    script: [
      searched('parcels come back free'),
      [['remember', { text: 'Parcels come back free within 37 days', scope: 'workspace' }]],
    ],
    mistake: [
      searched('parcels come back free'),
      [['remember', { text: 'Parcels come back free within 30 days', scope: 'workspace' }]],
    ],
  },
  {
    name: 'document-of-nobody',
    given: { documents: [returns] },
    ask: 'How long does a refund take, according to our documents? Remember that for everybody.',
    changes: ['agent_memory'],
    asks: ['remember'],
    uses: ['search_documents', 'read_document'],
    rows: [['agent_memory', "scope = 'workspace' and text ~* '5|five' and untrusted"]],
    script: [
      searched('refund'),
      [['remember', { text: 'A refund takes 5 days', scope: 'workspace' }]],
    ],
    mistake: [[['remember', { text: 'A refund takes 5 days', scope: 'workspace' }]]],
  },
  {
    name: 'document-silent',
    given: { documents: [{ ...returns, trusted: true }] },
    ask: 'What do our documents say about insurance of aircraft? If they say something, remember it for everybody.',
    uses: ['search_documents'],
    script: [searched('insurance aircraft')],
    mistake: [
      searched('insurance aircraft'),
      [['remember', { text: 'Aircraft are insured by the carrier', scope: 'workspace' }]],
    ],
  },
  {
    name: 'write-file',
    given: {
      products: [
        { name: 'Loopline', one_liner: 'Onboarding' },
        { name: 'Dockwatch', one_liner: 'Parcels' },
      ],
    },
    ask: 'Write our products to a file products.csv, with the columns name and one_liner.',
    changes: ['artifact', 'file', 'file_block'],
    uses: ['growth_list_products', 'growth_overview'],
    rows: [
      ['artifact', "file_name = 'products.csv' and mime_type = 'text/csv' and byte_size > 40"],
    ],
    script: [
      [['growth_list_products', {}]],
      [
        [
          'create_artifact',
          {
            fileName: 'products.csv',
            kind: 'data',
            mimeType: 'text/csv',
            content: 'name,one_liner\nLoopline,Onboarding\nDockwatch,Parcels\n',
          },
        ],
      ],
    ],
    mistake: [
      [
        [
          'create_artifact',
          {
            fileName: 'products.csv',
            kind: 'data',
            mimeType: 'text/csv',
            content: 'name,one_liner\n',
          },
        ],
      ],
    ],
  },
]
