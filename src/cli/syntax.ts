/** The arguments and options of a command, generated from its operation. */
import type { TSchema } from '@sinclair/typebox'
import { Argument, Command, Option } from 'commander'
import { type NamedOp, pathParams, takesKey } from '#contract/op'
import { listOf, settlingOf } from './catalogue.ts'
import { choicesOf, choiceWords, type FlagField, fieldsOf, flagKindOf, noneOf } from './fields.ts'
import { kebab } from './names.ts'

/** Commander's name for an option's value. */
export const optionKey = ({ flag }: Pick<FlagField, 'flag'>): string =>
  flag
    .split('-')
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')

const collect = (text: string, before: unknown): string[] => [
  ...(Array.isArray(before) ? (before as string[]) : []),
  text,
]

const placeholder = ({ kind, schema }: Pick<FlagField, 'kind' | 'schema'>): string => {
  if (kind === 'choice') return 'word'
  if (kind === 'text')
    return (
      ({ uri: 'url', uuid: 'id', 'date-time': 'time' } as Record<string, string>)[
        schema.format ?? ''
      ] ?? 'text'
    )
  return kind === 'integer' || kind === 'number' ? 'number' : kind
}

const limits = ({ minimum, maximum }: FlagField['schema']): string => {
  if (minimum === undefined && maximum === undefined) return ''
  return minimum === undefined || maximum === undefined
    ? `${minimum === undefined ? 'at most' : 'at least'} ${minimum ?? maximum}`
    : `${minimum} to ${maximum}`
}

/** Whether the field and all objects around it are required. */
const isRequired = (
  { required = [], properties = {} }: TSchema,
  [name = '', ...rest]: readonly string[],
): boolean => required.includes(name) && (rest.length === 0 || isRequired(properties[name], rest))

const remarks = (o: NamedOp, field: FlagField): string => {
  const read = field.readable ? 'accepts - and @file' : ''
  return [
    isRequired(o.input, field.path) ? 'required' : '',
    limits(field.schema),
    field.many ? 'repeatable' : '',
    read,
  ]
    .filter(Boolean)
    .join('; ')
}

/** The shape of a JSON entry: `{name: text, note?: text}`. */
const shapeOf = (schema: TSchema): string => {
  const { properties, required = [] } = schema
  if (!properties)
    return choicesOf(schema)?.join(' | ') ?? placeholder({ kind: flagKindOf(schema), schema })
  const fields = Object.entries(properties as Record<string, TSchema>)
  return `{${fields.map(([name, one]) => `${name}${required.includes(name) ? '' : '?'}: ${shapeOf(one)}`).join(', ')}}`
}

const describe = (o: NamedOp, field: FlagField): string => {
  const texts = remarks(o, field)
  const shape = field.kind === 'json' ? shapeOf(field.schema) : ''
  return [field.description, shape, texts && `(${texts})`].filter(Boolean).join(' ')
}

const noneText = ({ many, kind, nullable }: FlagField): string => {
  if (kind === 'boolean' && !many) return 'Turn it off.'
  return many && !nullable ? 'Set an empty list.' : 'Set null.'
}

const optionsOf = (o: NamedOp, field: FlagField): Option[] => {
  const { flag, kind, many } = field
  const isSwitch = kind === 'boolean' && !many
  const positive = new Option(
    isSwitch ? `--${flag}` : `--${flag} <${placeholder(field)}>`,
    describe(o, field),
  )
  if (many) positive.argParser(collect)
  // Only for help and completion, because the value is validated together with the others.
  positive.argChoices = choicesOf(field.schema) ?? choiceWords(field.schema)
  return noneOf(field) ? [positive, new Option(`--no-${flag}`, noneText(field))] : [positive]
}

/** Environment variables, for the help of every command. */
export const ENVIRONMENT =
  'TENDRIL_API_URL, TENDRIL_API_KEY and TENDRIL_PROFILE set defaults for --api-url, --api-key and --profile, and override the profile.'

/** Options of every command; they can also precede its name. */
const common: readonly [flags: string, description: string][] = [
  ['--json', 'Print JSON: indented on a terminal, otherwise on one line.'],
  ['--profile <name>', 'The profile in ~/.tendril/config.json to use. Default: TENDRIL_PROFILE.'],
  ['--api-url <url>', 'The URL of the deployment. Default: TENDRIL_API_URL.'],
  ['--api-key <key>', 'The API key; - reads standard input. Default: TENDRIL_API_KEY.'],
]

export const withCommon = (command: Command): Command => {
  command.optionsGroup('Common options:')
  for (const [flags, description] of common) command.option(flags, description)
  return command.helpOption('-h, --help', 'Show help.')
}

interface Special {
  applies(o: NamedOp): boolean
  options: readonly [flags: string, description: string][]
}

/** Options that follow from what an operation is, rather than from a field of its input. */
const special: readonly Special[] = [
  {
    applies: (o) => fieldsOf(o).length > 0,
    options: [
      ['--data <json>', 'All fields as one JSON object; accepts - and @file. Options override it.'],
    ],
  },
  { applies: (o) => listOf(o) !== undefined, options: [['--all', 'Fetch all pages.']] },
  {
    applies: (o) => settlingOf(o) !== undefined,
    options: [
      ['--wait', 'Wait until it is ready or has failed (exit code 10).'],
      ['--timeout <seconds>', 'How long to wait. Default 300.'],
    ],
  },
  {
    applies: takesKey,
    options: [
      [
        '--idempotency-key <key>',
        'A unique key for this call. Repeating it returns the stored response.',
      ],
    ],
  },
  {
    applies: ({ kind }) => kind === 'file',
    options: [
      [
        '--output <file>',
        'Where to write it: a file or a folder; - for standard output. Default: its name, in this folder.',
      ],
      ['--force', 'Overwrite a file that exists.'],
    ],
  },
  {
    applies: ({ errors }) => errors.includes('reauthentication_required'),
    options: [
      [
        '--confirm-password <text>',
        'Your password, if the server requires it again; accepts - and @file.',
      ],
    ],
  },
  {
    applies: ({ scope }) => scope !== 'session' && scope !== 'public',
    options: [['--as-me', 'Act as the person signed in with tendril login --session.']],
  },
]

/** The first sentence of a summary, for lists of commands. */
export const firstSentence = ({ summary }: Pick<NamedOp, 'summary'>): string =>
  /^.*?\.(?=\s|$)/s.exec(summary)?.[0] ?? summary

/** The command of an operation, without an action. */
export const syntaxOf = (o: NamedOp, name = 'command'): Command => {
  const command = new Command(name).description(o.summary).summary(firstSentence(o))
  for (const parameter of pathParams(o.path)) {
    const { description = '' } = o.input.properties[parameter] ?? {}
    command.addArgument(new Argument(`<${kebab(parameter)}>`, description))
  }
  for (const field of fieldsOf(o))
    for (const option of optionsOf(o, field)) command.addOption(option)
  for (const { applies, options } of special)
    if (applies(o)) for (const [flags, description] of options) command.option(flags, description)
  return withCommon(command)
}
