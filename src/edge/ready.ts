/**
 * `/ready`: whether this process can do its work, for whatever sends it requests or restarts it.
 * Anybody may ask, so a refusal has the name of the reason and nothing else.
 */
import { Type as T } from '@sinclair/typebox'
import { oneOf } from '#contract/shapes'
import { AppError } from '#kernel/errors'
import { checkedQuery } from './input.ts'
import { answerResponse, errorResponse, requestIdOf } from './respond.ts'

/**
 * `migrations`: the database has others than this program. `ownership`: others may own the
 * workspaces of this process, because it has not renewed its lease. `held`: nothing goes out by
 * itself.
 */
type Unready = 'starting' | 'stopping' | 'database' | 'migrations' | 'ownership' | 'held'

/** Never rejects. */
export interface Readiness {
  /** What keeps the process from its work. */
  reason?: Exclude<Unready, 'held'> | undefined
  /** Whether the deployment is held: it serves people, and does nothing by itself. */
  held: boolean
}

export const ReadyQuery = T.Object(
  {
    held: T.Optional(
      oneOf(['fail'], { description: '`fail`: a deployment that is held counts as not ready.' }),
    ),
  },
  { additionalProperties: false },
)

/** Rejects with `invalid_input`: a probe that says something else would never see the hold. */
export const readyResponse = async (
  ask: () => Promise<Readiness>,
  request: Request,
): Promise<Response> => {
  const query = checkedQuery(request, ReadyQuery)
  const { reason, held } = await ask()
  const unready: Unready | undefined = reason ?? (held && query.held ? 'held' : undefined)
  return unready
    ? errorResponse(new AppError('unavailable', unready), requestIdOf(request))
    : answerResponse(
        { status: 200, body: JSON.stringify({ status: 'ready', held }) },
        requestIdOf(request),
      )
}
