/** Pictures that tools returned in a chat. Their bytes are files of the gateway. */
import { apiPath, request } from '../../api/client';
import type { Attachment, Turn } from '../../api/types';
import { toolData } from '../../state/timeline';

export interface ToolPicture {
  id: string;
  /** The name of the tool. */
  tool: string;
  /** The name of the file. */
  name: string;
}

/** The pictures in a tool's metadata. Metadata stored by clients may have any shape. */
export function listed(pictures: Attachment[] | undefined, tool: string): ToolPicture[] {
  const all: unknown[] = Array.isArray(pictures) ? pictures : [];
  return all.flatMap((each) => {
    const { id, name } = (each ?? {}) as Partial<Record<'id' | 'name', unknown>>;
    return typeof id === 'string' ? [{ id, tool, name: typeof name === 'string' ? name : 'picture' }] : [];
  });
}

/** All pictures of the turns, in their order. */
export function picturesIn(turns: Turn[]): ToolPicture[] {
  return turns.flatMap((turn) => {
    const { pictures, tool_name: tool } = toolData(turn);
    return turn.role === 'tool' && pictures ? listed(pictures, typeof tool === 'string' ? tool : 'tool') : [];
  });
}

/** Reads a picture. Throws an ApiError with the status 404 if the gateway no longer keeps it. */
export async function read(id: string): Promise<Blob> {
  return (await request('GET', apiPath`/files/${id}`)).blob();
}
