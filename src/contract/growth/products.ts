import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { productRecord, productStatuses } from '../records/growth/product.ts'
import { Id, NextCursor, nullable, ONE_LINE, oneOf, page, record } from '../shapes.ts'

// Names have one line each, because posts contain them.
const name = T.String({
  minLength: 1,
  maxLength: 80,
  pattern: ONE_LINE,
  format: 'name',
  description: 'Its name in posts, unique among active products.',
  examples: ['Loopline'],
})
const one_liner = T.String({
  minLength: 1,
  maxLength: 200,
  pattern: ONE_LINE,
  description: 'What it is. Posts may use the text verbatim.',
  examples: ['Onboarding that asks one question'],
})
const url = T.String({ format: 'uri', maxLength: 500, description: 'Where posts about it link.' })

const Product = productRecord.schema
const OneProduct = record({ product: Product })

export const products = {
  list: op.query(
    'GET /api/v1/growth/products',
    'List products, newest first, including archived ones.',
    {
      input: {
        status: T.Optional(
          oneOf(productStatuses, { description: 'Return only products in this state.' }),
        ),
        ...page,
      },
      output: record({ products: T.Array(Product), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_products', agent: 'read' },
  ),
  get: op.query(
    'GET /api/v1/growth/products/:id',
    'Read one product.',
    { input: { id: Id }, output: OneProduct },
    { errors: ['not_found'] },
  ),
  create: op.command(
    'POST /api/v1/growth/products',
    'Add a product. From the next batch on, drafts may mention it with this text and URL. At most 25 active.',
    { input: { name, one_liner, url: T.Optional(url) }, output: OneProduct },
    {
      tool: 'growth_add_product',
      agent: 'draft',
      status: 201,
      errors: ['conflict'],
      roles: ['editor'],
    },
  ),
  update: op.command(
    'PUT /api/v1/growth/products/:id',
    'Update a product, or archive or reactivate it. Omitted fields keep their value. From the next batch on, no draft mentions an archived product.',
    {
      input: {
        id: Id,
        name: T.Optional(name),
        one_liner: T.Optional(one_liner),
        url: T.Optional(nullable(url)),
        status: T.Optional(productRecord.fields.status.shown),
      },
      output: OneProduct,
    },
    {
      tool: 'growth_update_product',
      agent: 'draft',
      errors: ['not_found', 'conflict'],
      roles: ['editor'],
      repeatable: true,
    },
  ),
  remove: op.command(
    'DELETE /api/v1/growth/products/:id',
    'Delete a product. From the next batch on, no draft mentions it; texts that do stay as they are.',
    { input: { id: Id }, output: OneProduct },
    { errors: ['not_found'], roles: ['editor'], destructive: true },
  ),
}
