import { Type as T } from '@sinclair/typebox'
import { nextCursor, shortPage, use, workers } from '../agent-fields.ts'
import { op } from '../op.ts'
import { Id, markUntrusted, nullable, oneOf, record, Time } from '../shapes.ts'
import { taskTypes } from '../task-types.ts'

const statuses = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const

const types = Object.keys(taskTypes).join(' or ')

const Task = record(
  {
    id: T.String({ format: 'uuid', description: 'Also the id of its job.' }),
    taskType: T.String(),
    input: T.Record(T.String(), T.Unknown()),
    tier: oneOf(['fast', 'reasoning']),
    model: T.String({ description: 'The model that runs. desk: none is set, and rules answer.' }),
    requestedModel: nullable(T.String()),
    maxAttempts: nullable(T.Integer({ description: 'null: 2.' })),
    attempts: T.Integer({ description: 'Answers so far.' }),
    status: oneOf(statuses, { description: 'completed, failed and cancelled are final.' }),
    output: markUntrusted(
      nullable(
        T.Record(T.String(), T.Unknown(), {
          description: 'What its type gives, once it is completed.',
        }),
      ),
    ),
    error: nullable(
      T.String({
        description:
          'Why it failed, such as output_invalid or model_required; while queued, what it waits for, such as plan_invalid.',
      }),
    ),
    startedAt: nullable(Time),
    endedAt: nullable(Time),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: 'AgentTask' },
)

const OneTask = record({ task: Task })

export const tasks = {
  list: op.query(
    'GET /api/v1/agent/tasks',
    'List tasks, newest first. Filter by status.',
    {
      input: {
        status: T.Optional(oneOf(statuses, { description: 'Return only tasks in this state.' })),
        ...shortPage,
      },
      output: record({ tasks: T.Array(Task), ...nextCursor }),
    },
    use,
  ),
  create: op.command(
    'POST /api/v1/agent/tasks',
    `Run a task: ${types}. It answers once, with JSON of a known form.`,
    {
      input: {
        taskType: T.String({
          minLength: 1,
          maxLength: 80,
          examples: ['extract_action_items'],
          description: types,
        }),
        input: T.Object(
          {},
          {
            additionalProperties: true,
            examples: [{ text: 'Anna will send the offer by Friday.' }],
            description:
              '{text} for extract_action_items; {text, labels} for classify_text, each label a string or {name, description, examples}.',
          },
        ),
        tier: T.Optional(oneOf(['fast', 'reasoning'], { description: 'Default fast.' })),
        model: T.Optional(
          T.String({
            minLength: 1,
            maxLength: 200,
            description: 'fast, reasoning, or a name in MODEL_ALLOW.',
            examples: ['fast'],
          }),
        ),
        maxAttempts: T.Optional(T.Integer({ minimum: 1, maximum: 5, description: 'Default 2.' })),
      },
      output: OneTask,
    },
    {
      ...use,
      ...workers,
      status: 201,
      failure: 'enqueue failed',
      tool: 'agent_run_task',
      agent: 'never',
      foreign: true,
      settles: 'get',
      errors: ['plan_invalid'],
    },
  ),
  get: op.query(
    'GET /api/v1/agent/tasks/:id',
    'Get a task with its output.',
    { input: { id: Id }, output: OneTask },
    { ...use, anyId: true, errors: ['not_found'] },
  ),
  cancel: op.command(
    'POST /api/v1/agent/tasks/:id/cancel',
    'Cancel a task that has not begun. One that is over stays as it is.',
    { input: { id: Id }, output: OneTask },
    {
      ...use,
      ...workers,
      anyId: true,
      errors: ['not_found', 'conflict'],
      repeatable: true,
      whileDeleting: true,
    },
  ),
}
