//! What must hold in every state after a power cut, on the floor of the session.
