import { Type as T } from '@sinclair/typebox'
import { use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { markUntrusted, nullable, record, untrustedName } from '../shapes.ts'

/** In characters. */
const [LEAST, USUAL, MOST] = [100, 4_000, 8_000]

export const fetchCapabilities = {
  fetch_url: op.query(
    'GET /api/v1/actions/fetch_url',
    'Read a page of the web. A person is asked first about hosts off the list. Redirects to these are named, not followed.',
    {
      input: {
        url: T.String({ format: 'uri', maxLength: 2_048, description: 'An https address.' }),
        maxCharacters: T.Optional(
          T.Integer({
            minimum: LEAST,
            maximum: MOST,
            default: USUAL,
            description: 'Default 4000.',
          }),
        ),
      },
      output: record({
        status: T.Integer({ description: 'The HTTP status of the last answer.' }),
        finalUrl: untrustedName(T.String({ description: 'Where redirects led.' })),
        type: nullable(
          T.String({ description: 'text/html, text/markdown, text/plain or application/json.' }),
        ),
        title: markUntrusted(nullable(T.String())),
        text: markUntrusted(T.String({ description: 'Without markup.' })),
        truncated: T.Boolean({ description: 'The page has more text.' }),
        redirect: untrustedName(
          nullable(
            T.String({
              description:
                'Where it redirects to, if that was not followed: call the tool with it.',
            }),
          ),
        ),
      }),
    },
    {
      ...use,
      tool: 'fetch_url',
      agent: 'outside_read',
      foreign: true,
      outside: true,
      errors: ['network_error'],
    },
  ),
}

export const usualCharacters = USUAL
