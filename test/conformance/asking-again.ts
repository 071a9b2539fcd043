/**
 * Tools of the protocol without sessions that answer with questions; the client calls again with
 * its answers.
 */
import {
  acceptedContent,
  createRequestStateCodec,
  type GetPromptResult,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { type Fixture, object, text } from './tools.ts'

/** Signed, so that a changed state is refused. */
export const states = createRequestStateCodec<string>({
  key: crypto.getRandomValues(new Uint8Array(32)),
})

type Question = InputRequests[string]

const form = (message: string, properties: object): Question => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: object(properties, Object.keys(properties)) as never,
  },
})
const sample = (question: string, maxTokens: number): Question => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: question } }], maxTokens },
})
const roots: Question = { method: 'roots/list', params: {} }

const nameForm = form('What is your name?', { name: { type: 'string' } })
const okForm = form('Please confirm', { ok: { type: 'boolean' } })

const answersOf = (ctx: ServerContext) => ctx.mcpReq.inputResponses
const answered = (ctx: ServerContext, key: string): boolean =>
  inputResponse(answersOf(ctx), key).kind !== 'missing'
const ask = (inputRequests: InputRequests): InputRequiredResult => inputRequired({ inputRequests })
const askWith = async (state: string, inputRequests: InputRequests): Promise<InputRequiredResult> =>
  inputRequired({ inputRequests, requestState: await states.mint(state) })

const several: InputRequests = {
  user_name: nameForm,
  greeting: sample('Generate a greeting', 50),
  client_roots: roots,
}

/** What the client declared in this request that it can be asked. */
const abilitiesOf = (ctx: ServerContext): Record<string, unknown> =>
  ((ctx.mcpReq.envelope as Record<string, unknown> | undefined)?.[
    'io.modelcontextprotocol/clientCapabilities'
  ] as Record<string, unknown> | undefined) ?? {}

const confirming: Fixture = {
  description: 'Asks to confirm, and recognises its own state',
  run: (ctx) =>
    answered(ctx, 'confirm') && ctx.mcpReq.requestState() === 'confirm'
      ? text('state-ok')
      : askWith('confirm', { confirm: okForm }),
}

const steps: Fixture = {
  description: 'Asks twice',
  run(ctx) {
    const state = ctx.mcpReq.requestState()
    if (state === 'two' && answered(ctx, 'step2')) return text('both steps done')
    if (state === 'one' && answered(ctx, 'step1'))
      return askWith('two', {
        step2: form('Step 2: What is your favorite color?', { color: { type: 'string' } }),
      })
    return askWith('one', {
      step1: form('Step 1: What is your name?', { name: { type: 'string' } }),
    })
  },
}

export const askingAgain: Record<string, Fixture> = {
  test_input_required_result_elicitation: {
    description: 'Asks for a name',
    run(ctx) {
      const content = acceptedContent<{ name: string }>(answersOf(ctx), 'user_name')
      return content ? text(`Hello, ${content.name}!`) : ask({ user_name: nameForm })
    },
  },
  test_input_required_result_sampling: {
    description: 'Asks a model',
    run(ctx) {
      const answer = inputResponse(answersOf(ctx), 'capital_question')
      if (answer.kind !== 'sampling')
        return ask({ capital_question: sample('What is the capital of France?', 100) })
      const [first] = [answer.result.content].flat()
      return text(first?.type === 'text' ? first.text : '')
    },
  },
  test_input_required_result_list_roots: {
    description: 'Asks for roots',
    run(ctx) {
      const answer = inputResponse(answersOf(ctx), 'client_roots')
      return answer.kind === 'roots'
        ? text(answer.roots.map(({ uri }) => uri).join(' '))
        : ask({ client_roots: roots })
    },
  },
  test_input_required_result_request_state: confirming,
  test_input_required_result_tampered_state: confirming,
  test_input_required_result_multiple_inputs: {
    description: 'Asks for several things at once',
    run: (ctx) =>
      Object.keys(several).every((key) => answered(ctx, key))
        ? text('all answered')
        : askWith('several', several),
  },
  test_input_required_result_multi_round: steps,
  test_input_required_result_capabilities: {
    description: 'Asks only for what the client can do',
    run(ctx) {
      const can = abilitiesOf(ctx)
      const questions = {
        ...(can.sampling ? { greeting: several.greeting! } : {}),
        ...(can.elicitation ? { user_name: nameForm } : {}),
      }
      return Object.keys(questions).some((key) => answered(ctx, key))
        ? text('answered')
        : ask(questions)
    },
  },
}

export const contextPrompt = {
  name: 'test_input_required_result_prompt',
  get(ctx: ServerContext): GetPromptResult | InputRequiredResult {
    const content = acceptedContent<{ context: string }>(answersOf(ctx), 'user_context')
    if (!content)
      return ask({
        user_context: form('What context should the prompt use?', { context: { type: 'string' } }),
      })
    return { messages: [{ role: 'user', content: { type: 'text', text: content.context } }] }
  },
}
